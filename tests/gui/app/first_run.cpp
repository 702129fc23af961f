// Drives a volunteer's first minute, by mouse and keyboard, or by the keyboard alone: gui_first_run LINK DATA_DIR
// DAEMON_PROGRAM WHO GOAL [LANGUAGE [keys]]. WHO is a list in JSON, [{"name":"Ada","password":"…","email":"…"}],
// without the last two if there is no account; after a refusal the next of the list is tried. GOAL is "joined" or
// "accepted", which means a first sample. Prints the number of clicks and of seconds from the link to the goal, and the
// window's text for each refusal; fails when a step does not come.
#include <QAbstractButton>
#include <QCheckBox>
#include <QClipboard>
#include <QElapsedTimer>
#include <QGuiApplication>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QLineEdit>
#include <cstdio>
#include <string_view>

#include "gui/app/application.h"
#include "gui/app/languages.h"
#include "gui/app/theme.h"
#include "tests/gui/support/mouse.h"
#include "tests/gui/support/qt_test.h"

namespace {

using namespace starling;
using starling::testing::wait_for;

constexpr std::chrono::seconds kStepMax{240};  // the bar of the end-to-end tests

class Volunteer {
 public:
  Volunteer(app::Application& application, bool by_keys) : application_(application), by_keys_(by_keys) {}

  bool wait(const char* what, const std::function<bool()>& condition) {
    if (wait_for(condition, kStepMax)) return true;
    std::fprintf(stderr, "not within a minute: %s\n", what);
    return false;
  }
  // Waits until the button can be clicked.
  bool click(QAbstractButton* button) {
    if (button == nullptr ||
        !wait("a button can be clicked", [&] { return button->isVisible() && button->isEnabled(); })) {
      return false;
    }
    ++clicks_;
    if (!by_keys_) {
      testing::click(*button);
      return true;
    }
    const bool reached = wait("a button has the keyboard", [&] { return testing::tab_to(*button); });
    testing::press(Qt::Key_Space);
    return reached;
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
  const bool by_keys_;
  int clicks_ = 0;
};

bool write_who(Volunteer& volunteer, const QJsonObject& who) {
  const bool has_account = who.contains(QLatin1String("password"));
  auto* with_account = volunteer.find<QCheckBox>("with_account");
  if (with_account->isChecked() != has_account && !volunteer.click(with_account)) return false;
  for (const char* field : {"name", "password", "email"}) {
    auto* line = volunteer.find<QLineEdit>(field);
    line->clear();
    testing::type(*line, who.value(QLatin1String(field)).toString());
  }
  return volunteer.next() && volunteer.next() && volunteer.click(volunteer.wizard()->button(QWizard::CommitButton));
}

// Continues from the page with the name. False: a step did not come, or nobody was admitted.
bool join(Volunteer& volunteer, const QJsonArray& attempts, QJsonArray& refused) {
  for (const QJsonValue& who : attempts) {
    if (!write_who(volunteer, who.toObject())) return false;
    auto* change = volunteer.find<QAbstractButton>("change");
    const auto* finish = volunteer.wizard()->button(QWizard::FinishButton);
    if (!volunteer.wait("joined or refused", [&] { return finish->isEnabled() || change->isVisible(); })) return false;
    if (finish->isEnabled()) return true;
    refused.append(volunteer.find<QLabel>("message")->text());
    if (!volunteer.click(change)) return false;
  }
  return false;
}

bool walk(Volunteer& volunteer, const QJsonArray& attempts, QJsonArray& refused) {
  if (!volunteer.wait("the wizard opens", [&] { return volunteer.wizard() != nullptr; })) return false;
  const bool decided = volunteer.click(volunteer.find<QAbstractButton>("paste")) && volunteer.next() &&
                       volunteer.click(volunteer.find<QCheckBox>("agreed")) && volunteer.next();
  return decided && join(volunteer, attempts, refused);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) return 2;
  testing::need_qt();
  app::applyTheme(QStringLiteral("light"));
  app::applyLanguage(QString::fromUtf8(argc > 6 ? argv[6] : "en"));
  app::ApplicationOptions options;
  options.data_dir = argv[2];
  options.daemon_program = QString::fromUtf8(argv[3]);
  QGuiApplication::clipboard()->setText(QString::fromUtf8(argv[1]));
  app::Application application(options);
  QElapsedTimer timer;
  timer.start();
  if (!application.start()) return 1;
  Volunteer volunteer(application, argc > 7);
  QJsonArray refused;
  const bool joined = walk(volunteer, QJsonDocument::fromJson(argv[4]).array(), refused);
  const auto accepted = [&] { return application.daemon().status().training.samples_credited > 0; };
  const bool reached =
      joined && (std::string_view(argv[5]) == "joined" || volunteer.wait("a sample is accepted", accepted));
  const QJsonObject result{{QStringLiteral("clicks"), volunteer.clicks()},
                           {QStringLiteral("seconds"), static_cast<double>(timer.elapsed()) / 1000},
                           {QStringLiteral("refused"), refused}};
  std::printf("%s\n", QJsonDocument(result).toJson(QJsonDocument::Compact).constData());
  return reached ? 0 : 1;
}
