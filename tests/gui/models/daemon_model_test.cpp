#include "gui/models/daemon_model.h"

#include <doctest/doctest.h>

#include "tests/gui/support/qt_test.h"
#include "tests/gui/support/real_daemon.h"

using namespace starling;
using namespace starling::models;
using namespace std::chrono_literals;
using starling::testing::wait_for;

namespace {

QString program() { return QString::fromUtf8(testing::RealDaemon::program()); }

link::LinkOptions quick(const std::filesystem::path& data_dir) {
  link::LinkOptions options;
  options.data_dir = data_dir;
  options.retry = 50ms;
  options.pace = 10ms;
  return options;
}

}  // namespace

TEST_CASE("preferences are the daemon's, and a wish changes them there") {
  testing::need_qt();
  testing::RealDaemon daemon;
  daemon.start();
  DaemonModel model(quick(daemon.data_dir()), program());
  model.open();
  REQUIRE(wait_for([&] { return model.connected(); }));
  CHECK(model.situation().remedy == Remedy::join);
  model.set("on_battery", "yes");
  CHECK(wait_for([&] { return model.preferences().on_battery; }));
  DaemonModel other(quick(daemon.data_dir()), program());
  other.open();
  CHECK(wait_for([&] { return other.preferences().on_battery; }));
}

TEST_CASE("a wish that the daemon refuses comes back with its reason") {
  testing::need_qt();
  testing::RealDaemon daemon;
  daemon.start();
  DaemonModel model(quick(daemon.data_dir()), program());
  QString reason;
  QObject::connect(&model, &DaemonModel::refused, &model, [&](const QString& why) { reason = why; });
  model.open();
  REQUIRE(wait_for([&] { return model.connected(); }));
  model.set("idle_minutes", "-3");
  CHECK(wait_for([&] { return reason.contains(QStringLiteral("idle_minutes")); }));
}

TEST_CASE("when the daemon is killed the sentence says so within three seconds, and the button starts another") {
  testing::need_qt();
  testing::RealDaemon daemon;
  daemon.start();
  DaemonModel model(quick(daemon.data_dir()), program());
  model.open();
  REQUIRE(wait_for([&] { return model.connected(); }));
  daemon.kill();
  REQUIRE(wait_for([&] { return model.situation().remedy == Remedy::start_daemon; }, 3s));
  model.startDaemon();
  REQUIRE(wait_for([&] { return model.connected(); }));
  wire::ControlRequest stop;
  stop.command = "stop";
  model.tell(stop);
  CHECK(wait_for([&] { return model.linkState() == link::LinkState::gone; }));
}

TEST_CASE("whoever has gone gets no answer") {
  testing::need_qt();
  testing::RealDaemon daemon;
  daemon.start();
  DaemonModel model(quick(daemon.data_dir()), program());
  model.open();
  REQUIRE(wait_for([&] { return model.connected(); }));
  wire::ControlRequest request;
  request.command = "preferences";
  bool gone_answered = false;
  bool answered = false;
  auto gone = std::make_unique<QObject>();
  model.ask(request, gone.get(), [&](const link::Reply&) { gone_answered = true; });
  gone.reset();
  model.ask(request, &model, [&](const link::Reply&) { answered = true; });
  CHECK(wait_for([&] { return answered; }));
  CHECK_FALSE(gone_answered);
}
