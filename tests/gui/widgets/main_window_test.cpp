#include "gui/widgets/main_window.h"

#include <doctest/doctest.h>

#include <QAbstractButton>
#include <QAction>
#include <QCheckBox>
#include <QCoreApplication>
#include <QElapsedTimer>
#include <QLabel>
#include <QTabBar>
#include <QTabWidget>
#include <csignal>

#include "tests/gui/support/control_names.h"
#include "tests/gui/support/desk.h"
#include "tests/gui/support/qt_test.h"

using namespace starling;
using namespace starling::widgets;
using starling::testing::wait_for;

namespace {

struct Opened {
  Opened() { window.show(); }
  [[nodiscard]] QString headline() const { return window.findChild<QLabel*>(QStringLiteral("headline"))->text(); }
  [[nodiscard]] QAbstractButton* button(const char* name) const {
    return window.findChild<QAbstractButton*>(QString::fromLatin1(name));
  }

  testing::Desk desk;
  models::HistoryModel history{desk.model()};
  MainWindow window{desk.model(), history};
};

}  // namespace

TEST_CASE("without a project there is one thing to do, and no empty page") {
  Opened opened;
  bool wanted = false;
  QObject::connect(&opened.window, &MainWindow::joinWanted, &opened.window, [&] { wanted = true; });
  REQUIRE(wait_for([&] { return opened.button("action")->isVisible(); }));
  opened.button("action")->click();
  CHECK(wanted);
  CHECK_FALSE(opened.button("pause")->isVisible());
  const auto* leave = opened.window.findChild<QAction*>(QStringLiteral("leave"));
  REQUIRE(leave != nullptr);
  CHECK_FALSE(leave->isVisible());
  const auto* tabs = opened.window.findChild<QTabWidget*>();
  CHECK_FALSE(tabs->isTabVisible(static_cast<int>(Page::leaderboard)));
  CHECK(tabs->isTabVisible(static_cast<int>(Page::preferences)));
}

TEST_CASE("a killed daemon is told in the window, and the button brings one back") {
  Opened opened;
  opened.desk.daemon().kill();
  REQUIRE(wait_for([&] { return opened.headline() == QStringLiteral("Starling is not running"); }));
  opened.button("action")->click();
  REQUIRE(wait_for([&] { return opened.desk.model().connected(); }));
  CHECK(wait_for([&] { return opened.headline() == QStringLiteral("No project yet"); }));
  CHECK(opened.desk.stop());
}

TEST_CASE("every control that the keyboard reaches has a name") {
  Opened opened;
  const QStringList nameless = testing::nameless_controls(opened.window);
  INFO(nameless.join(QStringLiteral(", ")).toStdString());
  CHECK(nameless.isEmpty());
}

TEST_CASE("the keyboard alone reaches every control of every page") {
  Opened opened;
  opened.window.activateWindow();
  REQUIRE(wait_for([&] { return opened.window.isActiveWindow(); }));
  auto* tabs = opened.window.findChild<QTabWidget*>();
  for (int tab = 0; tab < tabs->count(); ++tab) {
    tabs->setTabVisible(tab, true);  // including those that need a project
    tabs->setCurrentIndex(tab);
    tabs->tabBar()->setFocus();
    CAPTURE(tabs->tabText(tab).toStdString());
    const QStringList unreachable = testing::unreachable_controls(opened.window);
    INFO(unreachable.join(QStringLiteral(", ")).toStdString());
    CHECK(unreachable.isEmpty());
  }
}

TEST_CASE("a daemon that hangs holds nothing up in the window") {
  Opened opened;
  opened.desk.daemon().signal(SIGSTOP);
  QElapsedTimer took;
  took.start();
  auto* tabs = opened.window.findChild<QTabWidget*>();
  for (int tab = 0; tab < tabs->count(); ++tab) {
    tabs->setTabVisible(tab, true);
    tabs->setCurrentIndex(tab);
    for (QAbstractButton* button : tabs->widget(tab)->findChildren<QCheckBox*>()) button->click();
    QCoreApplication::processEvents();
  }
  CHECK(took.elapsed() < 5000);  // a daemon has 15 s to answer
  opened.desk.daemon().signal(SIGCONT);
}

TEST_CASE("closing the window ends neither the daemon nor the program") {
  Opened opened;
  bool closed = false;
  QObject::connect(&opened.window, &MainWindow::closed, &opened.window, [&] { closed = true; });
  opened.window.close();
  CHECK(closed);
  CHECK_FALSE(opened.window.isVisible());
  const wire::ControlRequest request = wire::GetPreferences{};
  bool answered = false;
  opened.desk.model().ask(request, &opened.desk.model(), [&](const link::Reply& reply) { answered = reply.ok(); });
  CHECK(wait_for([&] { return answered; }));
}
