// Takes pictures of every screen: gui_screenshots DATA_DIR NEWCOMERS_DATA_DIR LINK OUT. A daemon trains in the first
// folder; one without a project runs in the second, for the wizard and the link. For each language and theme, OUT gets
// SCREEN-THEME-LANGUAGE.png.
#include <QApplication>
#include <QCheckBox>
#include <QDir>
#include <QLineEdit>
#include <QPixmap>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "gui/app/application.h"
#include "gui/app/languages.h"
#include "gui/app/theme.h"
#include "gui/widgets/self_test_dialog.h"
#include "shared/base/files.h"
#include "shared/base/verify.h"
#include "tests/gui/support/false_daemon.h"
#include "tests/gui/support/qt_test.h"
#include "tests/support/temp_dir.h"

namespace {

using namespace starling;
using starling::testing::wait_for;
using widgets::Page;

constexpr std::chrono::milliseconds kSettle{500};
constexpr QSize kWide{1200, 760};
constexpr QSize kNarrow{400, 720};

const std::pair<const char*, Page> kPages[] = {
    {"overview", Page::home},           {"run", Page::run},
    {"statistics", Page::stats},        {"network", Page::network},
    {"leaderboard", Page::leaderboard}, {"log", Page::log},
    {"preferences", Page::preferences}, {"account", Page::account},
};

// A combination of language and theme: the folder for its pictures, and the end of their names.
struct Look {
  QDir folder;
  QString ending;
  void take(QWidget& widget, const QString& screen) const {
    wait_for([] { return false; }, kSettle);
    widget.grab().save(folder.filePath(screen + ending));
  }
};

void tell(models::DaemonModel& daemon, const wire::ControlRequest& request, const std::function<bool()>& done) {
  daemon.tell(request);
  wait_for(done);
}

void take_window(const std::filesystem::path& data_dir, const Look& look) {
  models::DaemonModel daemon({data_dir}, {});
  models::HistoryModel history(daemon);
  widgets::MainWindow window(daemon, history);
  app::Tray tray(daemon);
  window.resize(kWide);
  window.show();
  daemon.open();
  wait_for([&] { return daemon.connected() && !history.points(wire::HistorySpan::rounds).empty(); });
  for (const auto& [name, page] : kPages) {
    window.open(page);
    look.take(window, QString::fromLatin1(name));
  }
  look.take(tray.menu(), QStringLiteral("tray"));
  window.resize(kNarrow);
  for (const auto& [name, page] : kPages) {
    window.open(page);
    look.take(window, QStringLiteral("narrow-") + QString::fromLatin1(name));
  }
  window.open(Page::home);
  window.resize(kWide);
  tell(daemon, wire::Pause{}, [&] { return daemon.status().phase == wire::DaemonPhase::paused; });
  look.take(window, QStringLiteral("paused"));
  tell(daemon, wire::Resume{}, [&] { return daemon.status().phase != wire::DaemonPhase::paused; });
}

void take_wizard(const std::filesystem::path& data_dir, const QString& link, const Look& look) {
  models::DaemonModel daemon({data_dir}, {});
  daemon.open();
  wait_for([&] { return daemon.connected(); });
  widgets::FirstRunWizard wizard(daemon);
  wizard.show();
  wizard.useLink(link);
  wait_for([&] { return wizard.currentPage()->isComplete(); });
  for (int page = 1; page <= 5; ++page) {
    if (auto* agreed = wizard.currentPage()->findChild<QCheckBox*>(QStringLiteral("agreed"))) agreed->setChecked(true);
    if (auto* name = wizard.currentPage()->findChild<QLineEdit*>(QStringLiteral("name")))
      name->setText(QStringLiteral("Ada"));
    look.take(wizard, QStringLiteral("wizard-%1").arg(page));
    if (auto* account = wizard.currentPage()->findChild<QCheckBox*>(QStringLiteral("with_account"))) {
      account->setChecked(true);
      look.take(wizard, QStringLiteral("wizard-%1-account").arg(page));
      account->setChecked(false);
    }
    wizard.next();
  }
  wait_for([&] { return daemon.status().training.samples_credited > 0; });
  look.take(wizard, QStringLiteral("wizard-6"));
  tell(daemon, wire::LeaveProject{}, [&] { return daemon.status().membership.project.empty(); });
}

void take_without_project(const std::filesystem::path& data_dir, const Look& look) {
  models::DaemonModel daemon({data_dir}, {});
  models::HistoryModel history(daemon);
  widgets::MainWindow window(daemon, history);
  window.resize(kWide);
  window.show();
  daemon.open();
  wait_for([&] { return daemon.connected(); });
  look.take(window, QStringLiteral("no-project"));
}

void take_without_daemon(const Look& look) {
  const testing::TempDir nowhere;
  models::DaemonModel daemon({nowhere.path()}, {});
  models::HistoryModel history(daemon);
  widgets::MainWindow window(daemon, history);
  window.resize(kWide);
  window.show();
  daemon.open();
  wait_for([&] { return daemon.linkState() == link::LinkState::gone; });
  look.take(window, QStringLiteral("no-daemon"));
}

// States of a computer whose work others check, which a real daemon reaches only when it computes wrong.
void take_checked(const Look& look) {
  const std::pair<const char*, wire::CheckedWork> states[] = {
      {"checked-right", {41, 0, 9600, {}}},
      {"checked-missed",
       {41, 1, 0,
        "others computed something else from the same samples than this computer: its credit that was not final is "
        "taken back. Memory or a card that is overclocked, too hot or broken is the usual cause; 'starling doctor "
        "--self-test' looks for that"}},
      {"checked-out",
       {41, 2, 0,
        "others computed something else from the same samples than this computer, 2 times: it has no part in rounds "
        "until 'starling doctor --self-test' finds nothing wrong. Memory or a card that is overclocked, too hot or "
        "broken is the usual cause"}},
  };
  for (const auto& [name, checked] : states) {
    const testing::FalseDaemon told(testing::checked_member(checked));
    models::DaemonModel daemon({told.data_dir()}, {});
    models::HistoryModel history(daemon);
    widgets::MainWindow window(daemon, history);
    window.resize(kWide);
    window.show();
    daemon.open();
    wait_for([&] { return daemon.connected(); });
    look.take(window, QString::fromLatin1(name));
    window.resize(kNarrow);
    look.take(window, QStringLiteral("narrow-") + QString::fromLatin1(name));
  }
}

// The test of this computer with a script in the place of starling: under way, and its ends.
void take_self_test(const Look& look) {
  constexpr const char* kFinding = R"({"health":"%1","about":"%2","text":"%3","to_do":"%4"})";
  const auto finding = [&](const char* health, const char* about, const char* text, const char* to_do = "") {
    return QString::fromLatin1(kFinding).arg(QString::fromLatin1(health), QString::fromLatin1(about),
                                             QString::fromLatin1(text), QString::fromLatin1(to_do));
  };
  const QString memory = finding("good", "memory", "3.9 GB were written twice, and read back as they were");
  const QString card = finding("note", "graphics", "a card is not looked at by this test");
  const QString right = finding(
      "good", "processor", "it computed one thing 412 times in 20 s, always alike, and what others find (1e-07 off)");
  const QString wrong =
      finding("bad", "processor", "this computer got two different results from one computation (the 3. time): heat",
              "undo overclocking (memory profiles, too), and ask again");
  const QString print = QStringLiteral("echo '{\"findings\":[%1,%2,%3]}'; exit %4");
  const std::pair<const char*, QString> scripts[] = {
      {"self-test",
       QStringLiteral(
           R"(mkfifo "$2/never"; echo 'computing: 212 times alike, 10 of 20 s' >&2; read -r _ < "$2/never")")},
      {"self-test-passed", print.arg(right, memory, card).arg(0)},
      {"self-test-failed", print.arg(wrong, memory, card).arg(4)},
  };
  const testing::FalseDaemon told(testing::checked_member({}));
  const std::filesystem::path program = told.data_dir() / "starling";
  models::DaemonModel daemon({told.data_dir()}, {});
  for (const auto& [name, script] : scripts) {
    VERIFY(write_file_atomically(program, "#!/bin/sh\n" + script.toStdString() + "\n").ok());
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    const auto dialog =
        std::make_unique<widgets::SelfTestDialog>(daemon, QString::fromStdString(program.string()), nullptr);
    dialog->show();
    look.take(*dialog, QString::fromLatin1(name));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: gui_screenshots DATA_DIR NEWCOMERS_DATA_DIR LINK OUT\n");
    return 2;
  }
  testing::need_qt();
  for (const char* language : {"en", "ru"}) {
    for (const char* theme : {"light", "dark"}) {
      app::applyTheme(QString::fromLatin1(theme));
      app::applyLanguage(QString::fromLatin1(language));
      const Look look{QDir(QString::fromUtf8(argv[4])),
                      QStringLiteral("-%1-%2.png").arg(QString::fromLatin1(theme), QString::fromLatin1(language))};
      take_window(argv[1], look);
      take_without_project(argv[2], look);
      take_wizard(argv[2], QString::fromUtf8(argv[3]), look);
      take_without_daemon(look);
      take_checked(look);
      take_self_test(look);
    }
  }
  return 0;
}
