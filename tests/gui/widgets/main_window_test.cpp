#include "gui/widgets/main_window.h"

#include <doctest/doctest.h>

#include <QAbstractButton>
#include <QLabel>
#include <QTabWidget>

#include "tests/gui/support/control_names.h"
#include "tests/gui/support/qt_test.h"
#include "tests/gui/support/real_daemon.h"

using namespace starling;
using namespace starling::widgets;
using namespace std::chrono_literals;
using starling::testing::wait_for;

namespace {

// A window on a real daemon.
struct Desk {
  Desk() {
    testing::need_qt();
    daemon.start();
    link::LinkOptions options;
    options.data_dir = daemon.data_dir();
    options.retry = 50ms;
    options.pace = 10ms;
    model = std::make_unique<models::DaemonModel>(options, QString::fromUtf8(testing::RealDaemon::program()));
    history = std::make_unique<models::HistoryModel>(*model);
    window = std::make_unique<MainWindow>(*model, *history);
    window->show();
    model->open();
    REQUIRE(wait_for([&] { return model->connected(); }));
  }
  [[nodiscard]] QString headline() const { return window->findChild<QLabel*>(QStringLiteral("headline"))->text(); }
  [[nodiscard]] QAbstractButton* button(const char* name) const {
    return window->findChild<QAbstractButton*>(QString::fromLatin1(name));
  }

  testing::RealDaemon daemon;
  std::unique_ptr<models::DaemonModel> model;
  std::unique_ptr<models::HistoryModel> history;
  std::unique_ptr<MainWindow> window;
};

}  // namespace

TEST_CASE("without a project there is one thing to do, and no empty page") {
  const Desk desk;
  bool wanted = false;
  QObject::connect(desk.window.get(), &MainWindow::joinWanted, desk.window.get(), [&] { wanted = true; });
  REQUIRE(wait_for([&] { return desk.button("action")->isVisible(); }));
  desk.button("action")->click();
  CHECK(wanted);
  CHECK_FALSE(desk.button("pause")->isVisible());
  const auto* tabs = desk.window->findChild<QTabWidget*>();
  CHECK_FALSE(tabs->isTabVisible(static_cast<int>(Page::leaderboard)));
  CHECK(tabs->isTabVisible(static_cast<int>(Page::preferences)));
}

TEST_CASE("a killed daemon is told in the window within three seconds, and the button brings one back") {
  Desk desk;
  desk.daemon.kill();
  REQUIRE(wait_for([&] { return desk.headline() == QStringLiteral("Starling is not running"); }, 3s));
  desk.button("action")->click();
  REQUIRE(wait_for([&] { return desk.model->connected(); }));
  CHECK(wait_for([&] { return desk.headline() == QStringLiteral("No project yet"); }));
  wire::ControlRequest stop;
  stop.command = "stop";
  desk.model->tell(stop);
  CHECK(wait_for([&] { return desk.model->linkState() == link::LinkState::gone; }));
}

TEST_CASE("every control that the keyboard reaches has a name") {
  const Desk desk;
  const QStringList nameless = testing::nameless_controls(*desk.window);
  INFO(nameless.join(QStringLiteral(", ")).toStdString());
  CHECK(nameless.isEmpty());
}

TEST_CASE("closing the window ends neither the daemon nor the program") {
  const Desk desk;
  bool closed = false;
  QObject::connect(desk.window.get(), &MainWindow::closed, desk.window.get(), [&] { closed = true; });
  desk.window->close();
  CHECK(closed);
  CHECK_FALSE(desk.window->isVisible());
  wire::ControlRequest request;
  request.command = "preferences";
  bool answered = false;
  desk.model->ask(request, desk.model.get(), [&](const link::Reply& reply) { answered = reply.ok(); });
  CHECK(wait_for([&] { return answered; }));
}
