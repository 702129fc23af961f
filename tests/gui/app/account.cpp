// Drives the account page by mouse and keyboard, on a daemon that has joined: gui_account DATA_DIR LANGUAGE WORD … Each
// WORD is the name of a team to join, "+NAME" of one to found, or "-" to leave. Prints a line for each: the page's text
// about the volunteer's team afterwards, or about a refusal.
#include <QAbstractButton>
#include <QLabel>
#include <QLineEdit>
#include <cstdio>

#include "gui/app/languages.h"
#include "gui/widgets/main_window.h"
#include "tests/gui/support/mouse.h"
#include "tests/gui/support/qt_test.h"

namespace {

using namespace starling;
using starling::testing::wait_for;

class Page {
 public:
  explicit Page(const QWidget& window) : window_(window) {}

  template <typename Control>
  [[nodiscard]] Control* find(const char* name) const {
    return window_.findChild<Control*>(QString::fromLatin1(name));
  }
  // The text about the team, or about the last refusal.
  [[nodiscard]] QString words() const {
    const auto* refusal = find<QLabel>("team_refusal");
    return refusal->isVisible() ? refusal->text() : find<QLabel>("team")->text();
  }
  [[nodiscard]] bool act(const QString& word) const {
    const bool leaves = word == QLatin1String("-");
    const bool founds = word.startsWith(QLatin1Char('+'));
    auto* button = find<QAbstractButton>(leaves ? "leave_team" : founds ? "found_team" : "join_team");
    if (!wait_for([&] { return button->isVisible(); })) return false;
    if (!leaves) {
      find<QLineEdit>("team_name")->clear();
      testing::type(*find<QLineEdit>("team_name"), founds ? word.mid(1) : word);
    }
    const QString before = words();
    testing::click(*button);
    return wait_for([&] { return words() != before; });
  }

 private:
  const QWidget& window_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  testing::need_qt();
  app::applyLanguage(QString::fromUtf8(argv[2]));
  models::DaemonModel daemon({argv[1]}, {});
  models::HistoryModel history(daemon);
  widgets::MainWindow window(daemon, history);
  window.show();
  daemon.open();
  if (!wait_for([&] { return daemon.connected(); })) return 1;
  window.open(widgets::Page::account);
  const Page page(window);
  for (int i = 3; i < argc; ++i) {
    if (!page.act(QString::fromUtf8(argv[i]))) return 1;
    std::printf("%s\n", page.words().toUtf8().constData());
  }
  return 0;
}
