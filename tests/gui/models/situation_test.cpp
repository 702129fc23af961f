#include "gui/models/situation.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "client/policy/policy.h"
#include "coordinator/core/audit_standing.h"
#include "gui/models/daemon_words.h"

using namespace starling;
using namespace starling::models;

namespace {

Snapshot connected(wire::DaemonPhase phase) {
  Snapshot snapshot;
  snapshot.link = link::LinkState::connected;
  snapshot.status.emplace();
  snapshot.status->phase = phase;
  snapshot.status->membership.project = "Birds";
  snapshot.status->swarm.size = 3;
  snapshot.now.unix_ms = 1'700'000'000'000;
  snapshot.preferences.limits.temperature_max_c = 80;
  snapshot.preferences.traffic.data_max_gb_per_month = 5;
  return snapshot;
}

}  // namespace

TEST_CASE("every reason of the rules has words of its own, an end and an action") {
  std::set<QString> headlines;
  for (int i = 1; i < policy::kReasons; ++i) {
    const std::string code(policy::to_string(static_cast<policy::Reason>(i)));
    CAPTURE(code);
    Snapshot snapshot = connected(wire::DaemonPhase::paused);
    snapshot.status->rules.code = code;
    snapshot.status->reason = "the daemon's own words";
    const Situation situation = situationOf(snapshot);
    CHECK_FALSE(situation.headline.isEmpty());
    CHECK_FALSE(situation.headline.contains(QStringLiteral("own words")));
    CHECK_FALSE(situation.detail.isEmpty());
    CHECK_FALSE(situation.action.isEmpty());
    CHECK(situation.remedy != Remedy::none);
    CHECK((situation.face == Face::paused || situation.face == Face::waiting));
    const bool asks = !std::holds_alternative<wire::GetStatus>(situation.request);
    CHECK(asks == (situation.remedy == Remedy::request));
    headlines.insert(situation.headline);
  }
  CHECK(headlines.size() == policy::kReasons - 1);
}

TEST_CASE("a reason that this window does not know yet is shown in the daemon's words") {
  Snapshot snapshot = connected(wire::DaemonPhase::paused);
  snapshot.status->rules.code = "eclipse";
  snapshot.status->reason = "the sun is gone";
  CHECK(situationOf(snapshot).headline == QStringLiteral("the sun is gone"));
}

TEST_CASE("a pause shows the volunteer's own words, and when it ends") {
  Snapshot snapshot = connected(wire::DaemonPhase::paused);
  snapshot.status->rules.code = "snoozed";
  snapshot.status->reason = "snoozed by you: gaming";
  snapshot.status->rules.ends_at.unix_ms = snapshot.now.unix_ms + 60'000;
  const Situation situation = situationOf(snapshot);
  CHECK(situation.headline == QStringLiteral("Snoozed by you: gaming"));
  CHECK(situation.detail.startsWith(QStringLiteral("Goes on: ")));
  CHECK(std::holds_alternative<wire::Resume>(situation.request));
}

TEST_CASE("the phases of a round are one steady sentence") {
  std::set<QString> headlines;
  for (const auto phase : {wire::DaemonPhase::training, wire::DaemonPhase::averaging, wire::DaemonPhase::stepping,
                           wire::DaemonPhase::evaluating}) {
    const Situation situation = situationOf(connected(phase));
    CHECK(situation.face == Face::training);
    headlines.insert(situation.headline);
  }
  CHECK(headlines.size() == 1);
}

TEST_CASE("without a coordinator training goes on, and both are said") {
  Snapshot snapshot = connected(wire::DaemonPhase::training);
  snapshot.status->membership.coordinator_away = true;
  const Situation situation = situationOf(snapshot);
  CHECK(situation.face == Face::training);
  CHECK(situation.headline == QStringLiteral("Training goes on; Birds cannot be reached"));
  snapshot.status->phase = wire::DaemonPhase::joining;
  snapshot.status->reason = "the coordinator cannot be reached";
  CHECK(situationOf(snapshot).face == Face::disconnected);
}

TEST_CASE("without a daemon there is one button: to start it") {
  Snapshot snapshot;
  snapshot.link = link::LinkState::gone;
  CHECK(situationOf(snapshot).remedy == Remedy::start_daemon);
  CHECK(situationOf(snapshot).face == Face::disconnected);
  snapshot.link_problem = ErrorCode::permission_denied;
  CHECK(situationOf(snapshot).remedy == Remedy::none);
}

TEST_CASE("without a project the one thing to do is to join") {
  Snapshot snapshot = connected(wire::DaemonPhase::idle);
  snapshot.status->membership.project.clear();
  CHECK(situationOf(snapshot).remedy == Remedy::join);
  CHECK(situationOf(snapshot).face == Face::attention);
}

TEST_CASE("a problem asks for attention, unless the volunteer has paused") {
  Snapshot snapshot = connected(wire::DaemonPhase::training);
  snapshot.status->problems = {"the disk is full"};
  CHECK(situationOf(snapshot).face == Face::attention);
  snapshot.status->phase = wire::DaemonPhase::paused;
  snapshot.status->rules.code = "paused";
  CHECK(situationOf(snapshot).face == Face::paused);
}

TEST_CASE("a run that the owner's limits keep away says why, and offers the limit") {
  Snapshot snapshot = connected(wire::DaemonPhase::preparing);
  snapshot.status->reason =
      "this run needs more memory than you allow: 6.1 GB, and your limits leave 4.0 of the 8.0 that are here";
  snapshot.status->ends_when = "you allow more memory";
  snapshot.status->rules.action = "allow more memory while nobody uses the computer";
  snapshot.status->rules.action_command = "prefs set memory_idle_percent 77";
  const Situation declined = situationOf(snapshot);
  CHECK(declined.face == Face::attention);
  CHECK(declined.headline.contains(QStringLiteral("6.1 GB")));
  CHECK(declined.detail.contains(QStringLiteral("you allow more memory")));
  CHECK(declined.remedy == Remedy::open_preferences);
  CHECK_FALSE(declined.action.isEmpty());
}

TEST_CASE("a run that is a program asks its volunteer, who can say yes in the window") {
  Snapshot snapshot = connected(wire::DaemonPhase::preparing);
  snapshot.status->membership.project = "Birds";
  snapshot.status->reason =
      "this run's model is a program of the project's own, which runs here only if you agree: 1.0 MB, SHA-256 ab";
  snapshot.status->rules.action = "allow it, if you trust this project";
  snapshot.status->rules.action_command = "projects allow birds.example.org:4443";
  const Situation asked = situationOf(snapshot);
  CHECK(asked.face == Face::attention);
  CHECK(asked.remedy == Remedy::request);
  REQUIRE(std::holds_alternative<wire::AllowProject>(asked.request));
  CHECK(std::get<wire::AllowProject>(asked.request).project == "Birds");
  CHECK_FALSE(asked.action.isEmpty());
}

TEST_CASE("a run for newer versions says so, and offers what can be done here") {
  Snapshot snapshot = connected(wire::DaemonPhase::preparing);
  snapshot.status->update.required = "1.2";
  const Situation by_system = situationOf(snapshot);
  CHECK(by_system.face == Face::attention);
  CHECK(by_system.headline.contains(QStringLiteral("1.2")));
  CHECK(by_system.remedy == Remedy::none);
  CHECK_FALSE(by_system.detail.isEmpty());

  snapshot.status->update.can_install = true;
  const Situation by_itself = situationOf(snapshot);
  CHECK(by_itself.remedy == Remedy::request);
  REQUIRE(std::holds_alternative<wire::LookForUpdate>(by_itself.request));
  CHECK(std::get<wire::LookForUpdate>(by_itself.request).install);
  CHECK_FALSE(by_itself.action.isEmpty());

  snapshot.status->update.state = "downloading";
  CHECK(situationOf(snapshot).face == Face::waiting);
  CHECK(situationOf(snapshot).remedy == Remedy::none);
}

TEST_CASE("checked work is told while it trains") {
  Snapshot snapshot = connected(wire::DaemonPhase::training);
  CHECK_FALSE(situationOf(snapshot).detail.contains(QStringLiteral("checked")));
  snapshot.status->checked = {41, 0, 0, {}};
  CHECK(situationOf(snapshot).detail.endsWith(QStringLiteral("work 41 time(s): it was right.")));
  snapshot.status->checked = {41, 2, 0, {}};
  CHECK(situationOf(snapshot).detail.endsWith(QStringLiteral("work 43 time(s): it was wrong 2 time(s).")));
}

TEST_CASE("the window has words of its own for what others found, and says when that keeps a computer out") {
  core::AuditStanding standing;
  std::set<QString> words;
  for (const RoundIndex round : {10, 20, 30}) {
    (void)standing.on_miss(round, round, false);
    for (const bool passed : {false, true}) {
      if (passed) standing.on_self_test_passed();
      const std::string verdict = standing.advice(round + 1);
      CAPTURE(verdict);
      REQUIRE_FALSE(verdict.empty());
      const QString said = daemonWords(verdict);
      CHECK_FALSE(said.contains(QStringLiteral("doctor")));
      words.insert(said);
      CHECK(keepsOut(verdict) == standing.is_out(round + 1));
      Snapshot snapshot = connected(wire::DaemonPhase::training);
      snapshot.status->checked = {0, standing.misses, 0, verdict};
      snapshot.status->problems = {verdict};
      const Situation situation = situationOf(snapshot);
      CHECK(situation.face == Face::attention);
      CHECK(situation.headline.startsWith(keepsOut(verdict) ? QStringLiteral("Kept out") : QStringLiteral("Training")));
    }
  }
  CHECK(words.size() == 4);
}
