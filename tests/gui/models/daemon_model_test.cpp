#include "gui/models/daemon_model.h"

#include <doctest/doctest.h>

#include "tests/gui/support/desk.h"
#include "tests/gui/support/qt_test.h"

using namespace starling;
using namespace starling::models;
using starling::testing::wait_for;

TEST_CASE("preferences are the daemon's, and a wish changes them there") {
  testing::Desk desk;
  DaemonModel& model = desk.model();
  CHECK(model.situation().remedy == Remedy::join);
  model.set("on_battery", "yes");
  CHECK(wait_for([&] { return model.preferences().when.on_battery; }));
  DaemonModel other(testing::Desk::options(desk.daemon().data_dir()), {});
  other.open();
  CHECK(wait_for([&] { return other.preferences().when.on_battery; }));
}

TEST_CASE("a wish that the daemon refuses comes back with its reason") {
  testing::Desk desk;
  DaemonModel& model = desk.model();
  QString reason;
  QObject::connect(&model, &DaemonModel::refused, &model, [&](const QString& why) { reason = why; });
  model.set("idle_minutes", "-3");
  CHECK(wait_for([&] { return reason.contains(QStringLiteral("idle_minutes")); }));
}

TEST_CASE("when the daemon is killed the sentence says so, and the button starts another") {
  testing::Desk desk;
  DaemonModel& model = desk.model();
  desk.daemon().kill();
  REQUIRE(wait_for([&] { return model.situation().remedy == Remedy::start_daemon; }));
  model.startDaemon();
  REQUIRE(wait_for([&] { return model.connected(); }));
  CHECK(desk.stop());
}

TEST_CASE("whoever has gone gets no answer") {
  testing::Desk desk;
  DaemonModel& model = desk.model();
  const wire::ControlRequest request = wire::GetPreferences{};
  bool gone_answered = false;
  bool answered = false;
  auto gone = std::make_unique<QObject>();
  model.ask(request, gone.get(), [&](const link::Reply&) { gone_answered = true; });
  gone.reset();
  model.ask(request, &model, [&](const link::Reply&) { answered = true; });
  CHECK(wait_for([&] { return answered; }));
  CHECK_FALSE(gone_answered);
}
