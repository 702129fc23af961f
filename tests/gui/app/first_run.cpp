// A volunteer's first minute, by mouse and keyboard: gui_first_run LINK DATA_DIR DAEMON_PROGRAM NAME
// Prints how many clicks and seconds it took from the link to the first accepted sample; fails when a step does not
// come.
#include <QAbstractButton>
#include <QCheckBox>
#include <QClipboard>
#include <QElapsedTimer>
#include <QGuiApplication>
#include <QLineEdit>
#include <cstdio>

#include "gui/app/application.h"
#include "gui/app/languages.h"
#include "gui/app/theme.h"
#include "tests/gui/support/mouse.h"
#include "tests/gui/support/qt_test.h"

namespace {

using namespace starling;
using starling::testing::wait_for;

constexpr std::chrono::seconds kStepMax{60};

class Volunteer {
 public:
  explicit Volunteer(app::Application& application) : application_(application) {}

  bool wait(const char* what, const std::function<bool()>& condition) {
    if (wait_for(condition, kStepMax)) return true;
    std::fprintf(stderr, "not within a minute: %s\n", what);
    return false;
  }
  // Waits until it can be clicked.
  bool click(QAbstractButton* button) {
    if (button == nullptr ||
        !wait("a button can be clicked", [&] { return button->isVisible() && button->isEnabled(); })) {
      return false;
    }
    testing::click(*button);
    ++clicks_;
    return true;
  }
  bool next() { return click(wizard()->button(QWizard::NextButton)); }
  template <typename Control>
  Control* find(const char* name) {
    return wizard()->findChild<Control*>(QString::fromLatin1(name));
  }
  widgets::FirstRunWizard* wizard() { return application_.wizard(); }
  [[nodiscard]] int clicks() const { return clicks_; }

 private:
  app::Application& application_;
  int clicks_ = 0;
};

bool walk(Volunteer& volunteer, app::Application& application, const QString& name) {
  if (!volunteer.wait("the wizard opens", [&] { return volunteer.wizard() != nullptr; })) return false;
  const bool decided = volunteer.click(volunteer.find<QAbstractButton>("paste")) && volunteer.next() &&
                       volunteer.click(volunteer.find<QCheckBox>("agreed")) && volunteer.next();
  if (!decided) return false;
  testing::type(*volunteer.find<QLineEdit>("name"), name);
  if (!volunteer.next() || !volunteer.next()) return false;
  if (!volunteer.click(volunteer.wizard()->button(QWizard::CommitButton))) return false;
  const auto accepted = [&] { return application.daemon().status().samples_credited > 0; };
  return volunteer.wait("a sample is accepted", accepted);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  testing::need_qt();
  app::applyTheme(QStringLiteral("light"));
  app::applyLanguage(QStringLiteral("en"));
  app::ApplicationOptions options;
  options.data_dir = argv[2];
  options.daemon_program = QString::fromUtf8(argv[3]);
  QGuiApplication::clipboard()->setText(QString::fromUtf8(argv[1]));
  app::Application application(options);
  QElapsedTimer timer;
  timer.start();
  if (!application.start()) return 1;
  Volunteer volunteer(application);
  if (!walk(volunteer, application, QString::fromUtf8(argv[4]))) return 1;
  std::printf("{\"clicks\":%d,\"seconds\":%.1f}\n", volunteer.clicks(), static_cast<double>(timer.elapsed()) / 1000);
  return 0;
}
