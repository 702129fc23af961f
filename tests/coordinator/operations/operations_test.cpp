// Operators' actions on a real database.
#include <doctest/doctest.h>

#include "coordinator/operations/audit_chain.h"
#include "coordinator/operations/maintenance.h"
#include "coordinator/operations/people.h"
#include "coordinator/operations/roles.h"
#include "coordinator/operations/rollback.h"
#include "coordinator/operations/runs.h"
#include "db/sqlite/open.h"
#include "db/stores/database.h"
#include "shared/manifest/signed_statement.h"
#include "tests/support/temp_dir.h"

namespace starling::operations {
namespace {

struct Office {
  starling::testing::TempDir folder;
  SystemClock clock;
  std::unique_ptr<db::Database> database = [this] {
    auto opened = db::Database::open(folder / "c.db", {.create = true, .commit_interval = from_ms(0)});
    REQUIRE(opened.ok());
    return std::move(*opened);
  }();
  Desk desk{database->stores(), clock, "ada"};

  db::Run run(const RunId& run_id, db::RunState state = db::RunState::paused) {
    REQUIRE(desk.stores.training.runs.create({run_id, "envelope", state, clock.wall_now(), 0}).ok());
    return *desk.stores.training.runs.find(run_id);
  }
  std::vector<std::string> actions() {
    std::vector<std::string> names;
    const auto lines = desk.stores.operation.audit.list(100, INT64_MAX);
    for (const db::AuditLine& line : *lines) names.push_back(line.action + " " + line.subject);
    return names;
  }
};

}  // namespace

TEST_CASE("a retired run is not in use, can not be started, and its row stays") {
  Office office;
  const db::Run old = office.run("old");
  office.run("new");
  REQUIRE(retire_run(office.desk, old).ok());
  const auto runs = runs_in_use(office.desk.stores.training.runs);
  REQUIRE(runs->size() == 1);
  CHECK(runs->front().run_id == "new");
  CHECK(find_run(office.desk.stores.training.runs, "")->run_id == "new");
  const auto kept = find_run(office.desk.stores.training.runs, "old");
  REQUIRE(kept.ok());
  CHECK(kept->retired.unix_ms > 0);
  CHECK(start_run(office.desk, *kept).error().code == ErrorCode::failed_precondition);
  CHECK(retire_run(office.desk, *kept).error().code == ErrorCode::failed_precondition);
}

TEST_CASE("a run that trains is not retired, and two do not train at once") {
  Office office;
  const db::Run one = office.run("one", db::RunState::running);
  const db::Run two = office.run("two");
  CHECK(retire_run(office.desk, one).error().code == ErrorCode::failed_precondition);
  CHECK(start_run(office.desk, two).error().message.find("'one' is running") != std::string::npos);
  REQUIRE(pause_run(office.desk, one).ok());
  CHECK(start_run(office.desk, two).ok());
}

TEST_CASE("every act is in the audit log, newest first, and what failed is not") {
  Office office;
  office.run("one");
  REQUIRE(start_run(office.desk, *find_run(office.desk.stores.training.runs, "one")).ok());
  CHECK_FALSE(remove_ban(office.desk, 77).ok());
  CHECK_FALSE(add_ban(office.desk, {"user:Nobody", "spam", {}}).ok());
  REQUIRE(add_ban(office.desk, {"address:192.0.2.0/24", "spam", from_ms(1000)}).ok());
  const auto news = post_news(office.desk, "Hello", "World");
  REQUIRE(news.ok());
  REQUIRE(remove_news(office.desk, *news).ok());
  CHECK(office.actions() == std::vector<std::string>{"news remove news 1", "news post news 1",
                                                     "ban add address:192.0.2.0/24", "run start one"});
}

TEST_CASE("maintenance is told with its reason and end, can be changed, and is over when somebody says so") {
  Office office;
  MaintenanceSign sign;
  REQUIRE(sign.refresh(office.desk.stores.operation.settings).ok());
  CHECK_FALSE(sign.shown());
  CHECK(end_maintenance(office.desk).error().code == ErrorCode::failed_precondition);
  CHECK_FALSE(begin_maintenance(office.desk, {"late", {}, WallTime{1}}).ok());
  CHECK_FALSE(begin_maintenance(office.desk, {std::string(501, 'x')}).ok());
  REQUIRE(begin_maintenance(office.desk, {"a \"new\" disk"}).ok());
  REQUIRE(sign.refresh(office.desk.stores.operation.settings).ok());
  REQUIRE(sign.shown());
  CHECK(notice_of(*sign.shown()).find("looked after: a \"new\" disk. Please come again in a quarter") !=
        std::string::npos);
  const WallTime until{office.clock.wall_now().unix_ms + 3'600'000};
  REQUIRE(begin_maintenance(office.desk, {"", {}, until}).ok());
  REQUIRE(sign.refresh(office.desk.stores.operation.settings).ok());
  CHECK(sign.shown()->until == until);
  REQUIRE(end_maintenance(office.desk).ok());
  REQUIRE(sign.refresh(office.desk.stores.operation.settings).ok());
  CHECK_FALSE(sign.shown());
}

TEST_CASE("what operators say is plain before volunteers, pages and other operators are told") {
  Office office;
  REQUIRE(begin_maintenance(office.desk, {"disk\x1b[2J\nRED\u202e\x07"}).ok());
  CHECK(read_maintenance(office.desk.stores.operation.settings).value()->message == "disk?[2J RED?");
  CHECK(notice_of({"\u009b31m"}).find("after: ?31m. ") != std::string::npos);
  REQUIRE(add_ban(office.desk, {"address:192.0.2.0/24", "spam\x1b]0;x\x07", {}}).ok());
  CHECK(office.desk.stores.operation.bans.list()->front().reason == "spam?]0;x?");
  CHECK_FALSE(add_ban(office.desk, {"address:192.0.2.0/24", "\u202e", {}}).ok());  // no reason is left
  REQUIRE(post_news(office.desk, "new\x1b[2J\n", "one\r\ntwo\u2067").ok());
  const auto news = office.desk.stores.operation.news.list(1);
  CHECK(news->front().title == "new?[2J ");
  CHECK(news->front().body == "one\ntwo");
  const auto lines = office.desk.stores.operation.audit.list(3, INT64_MAX);
  CHECK(lines->back().note == "disk?[2J RED?");
  // Older versions kept what was typed.
  REQUIRE(office.desk.stores.operation.news.add({0, {}, "old\x1b", "a\nb\x1b"}).ok());
  CHECK(office.desk.stores.operation.news.list(9)->front().title == "old?");
}

TEST_CASE("whoever is put off comes again when maintenance is to be over, within reason") {
  const WallTime now{1'000'000};
  CHECK(come_again({}, now) == std::chrono::minutes(15));
  CHECK(come_again({"", {}, WallTime{1'000'000 + 7'200'000}}, now) == std::chrono::hours(2));
  CHECK(come_again({"", {}, WallTime{1'000'001}}, now) == std::chrono::minutes(1));
  CHECK(come_again({"", {}, WallTime{999'999}}, now) == std::chrono::minutes(15));
  CHECK(come_again({"", {}, WallTime{INT64_MAX / 4}}, now) == std::chrono::hours(24));
}

TEST_CASE("a line of the audit log is cut between letters rather than refused") {
  Office office;
  std::string reason(999, 'x');
  reason += "\xc3\xa4 and more";
  REQUIRE(note(office.desk, "ban add", std::string(500, 'y'), reason).ok());
  const auto lines = office.desk.stores.operation.audit.list(1, INT64_MAX);
  CHECK(lines->front().subject.size() == 200);
  CHECK(lines->front().note == std::string(999, 'x'));
}

TEST_CASE("the chain of the audit log is whole, and a check names the first line that does not fit") {
  Office office;
  const db::AuditStore& audit = office.desk.stores.operation.audit;
  CHECK(check_audit(audit)->problem.empty());
  for (const char* subject : {"one", "two", "three", "four"}) REQUIRE(note(office.desk, "run start", subject).ok());
  const AuditCheck whole = check_audit(audit).value();
  CHECK(whole.problem.empty());
  CHECK(whole.lines == 4);
  const auto lines = audit.list_on(10, 0).value();
  CHECK(whole.last == *lines.back().digest);
  CHECK(check_audit(audit, *lines[1].digest)->problem.empty());
  CHECK(check_audit(audit, Digest{})->problem.find("no line has the digest") != std::string::npos);

  // Each way to tamper with the rows, as somebody who can write the file may.
  const auto tampered = [&](const std::string& sql) {
    const auto copy = office.folder / "tampered.db";
    std::filesystem::remove(copy);
    REQUIRE(office.database->backup(copy).ok());
    {
      db::Connection connection = db::open_file(copy, {.mode = db::OpenMode::read_write}).value();
      const Status done =
          connection.execute("DROP TRIGGER audit_is_never_changed; DROP TRIGGER audit_is_never_removed; " + sql);
      REQUIRE_MESSAGE(done.ok(), (done.ok() ? "" : done.error().message));
    }
    const auto opened = db::Database::open(copy, {.ballast_bytes = 0}).value();
    return check_audit(opened->stores().operation.audit, whole.last)->problem;
  };
  CHECK(tampered("").empty());
  CHECK(tampered("UPDATE audit SET subject = 'another' WHERE id = 2").starts_with("line 2 "));
  CHECK(tampered("UPDATE audit SET note = 'why' WHERE id = 1").starts_with("line 1 "));
  CHECK(tampered("DELETE FROM audit WHERE id = 2").starts_with("line 3 "));
  CHECK(tampered("DELETE FROM audit WHERE id = 1").starts_with("line 2 "));
  CHECK(tampered("DELETE FROM audit WHERE id = 4").starts_with("no line has the digest"));
  CHECK(tampered("UPDATE audit SET digest = NULL WHERE id = 3").starts_with("line 3 "));
  CHECK(tampered("INSERT INTO audit (at_ms, who, action, subject, note) VALUES (1, 'eve', 'act', '', '')")
            .starts_with("line 5 "));
  CHECK(tampered("UPDATE audit SET id = 20 WHERE id = 2").starts_with("line 3 "));
}

TEST_CASE("two lines have one digest only if all of their texts are the same") {
  const db::AuditLine line{1, {5}, "ada", "run start", "one", "why"};
  const Digest first = chain({}, line);
  db::AuditLine other = line;
  other.id = 7;
  CHECK(chain({}, other) == first);
  other.who = "adar";
  other.action = "un start";
  CHECK(chain({}, other) != first);
  other = line;
  other.at = {6};
  CHECK(chain({}, other) != first);
  CHECK(chain(first, line) != first);
}

TEST_CASE("a role may do its own acts, an operator all of them, and a viewer none") {
  using enum db::OperatorRole;
  for (const db::OperatorRole needed : {run_manager, moderator, all}) {
    CHECK(may_act(all, needed));
    CHECK_FALSE(may_act(viewer, needed));
  }
  CHECK(may_act(moderator, moderator));
  CHECK_FALSE(may_act(moderator, run_manager));
  CHECK_FALSE(may_act(run_manager, moderator));
  CHECK(expect_role("bo", run_manager, run_manager).ok());
  const Status refused = expect_role("bo", viewer, run_manager);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::permission_denied);
  CHECK(refused.error().message == "'bo' is a viewer; this takes a run manager or an operator");
}

TEST_CASE("a rollback tells what it costs, and reverses the credit of the rounds that it gives up if it is to") {
  Office office;
  const db::Stores& stores = office.desk.stores;
  PeerId peer;
  peer.bytes.fill(1);
  office.run("one", db::RunState::running);
  const AccountId ada = stores.people.accounts.join({"Ada", peer, {}, office.clock.wall_now()}).value();
  Digest state;
  for (RoundIndex round = 0; round < 5; ++round) {
    state.bytes.fill(static_cast<std::uint8_t>(round + 1));
    db::RoundResult result;
    result.record = {"one", round, {}, {1}, 10, state, 1, 1, 0};
    result.contributions = {{peer, ada, 10, 1'000'000, {1}}};
    REQUIRE(stores.training.contributions.append(result).ok());
    const db::KeptCheckpoint copy{"one", round + 1, state, state, 7, peer, {1}};
    if (round != 3) REQUIRE(stores.training.checkpoints.keep(copy, 0).ok());
  }
  const auto run = [&] { return *stores.training.runs.find("one"); };
  CHECK(shown_rounds(*rounds_kept(office.desk, "one")) == "1 to 3, 5");
  CHECK(shown_rounds({}).empty());

  const auto missing = plan_rollback(office.desk, run(), 4);
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().code == ErrorCode::not_found);
  CHECK(missing.error().message.ends_with("there are copies of rounds 1 to 3, 5"));
  CHECK(plan_rollback(office.desk, run(), 0).error().message.ends_with("run clone PROJECT one FILE"));
  CHECK(plan_rollback(office.desk, run(), 5).error().code == ErrorCode::invalid_argument);
  CHECK(run().rollbacks == 0);

  const manifest::SigningKey key(crypto::PrivateKey::generate());
  const RollbackPlan plan = plan_rollback(office.desk, run(), 3).value();
  CHECK(plan.rounds() == 2);
  REQUIRE(plan.credited.size() == 1);
  CHECK(plan.credited[0].display_name == "Ada");
  CHECK(plan.total() == db::Totals{20, 2'000'000});
  CHECK(run().round == 5);

  const RollbackDone kept = roll_back(office.desk, plan, CreditFate::keep, key).value();
  CHECK(kept.rollback.round == 5);
  CHECK(run().round == 6);
  const auto chain = stores.training.chains.read("one").value();
  const auto stated = manifest::verify_statement(chain.statement->text, key.key.public_key()).value().statement;
  CHECK(stated ==
        wire::StateStatement{"one", 6, plan.to.state_digest, chain.statement->serial, wire::StatementCause::rollback});
  CHECK(stores.training.contributions.ledger_sum("one")->samples == 50);

  const RollbackDone reversed =
      roll_back(office.desk, plan_rollback(office.desk, run(), 2).value(), CreditFate::reverse, key).value();
  CHECK(reversed.reversed.lines == 3);
  CHECK(reversed.reversed.taken_back == db::Totals{30, 3'000'000});
  CHECK(run().round == 7);
  CHECK(stores.training.contributions.ledger_sum("one")->samples == 20);
  CHECK(stores.training.contributions.verify_totals().ok());
  CHECK(office.actions().front() == "credit reverse one");
  CHECK(office.actions()[1] == "run rollback one");

  const std::int64_t serial = stores.training.chains.read("one").value().statement->serial;
  REQUIRE(state_again(office.desk, run(), 7, state, key).ok());
  const auto again = stores.training.chains.read("one").value().statement.value();
  CHECK(manifest::verify_statement(again.text, key.key.public_key()).value().statement ==
        wire::StateStatement{"one", 7, state, again.serial, wire::StatementCause::rollback});
  CHECK(again.serial > serial);

  REQUIRE(stores.training.runs.set_state("one", db::RunState::complete).ok());
  CHECK(plan_rollback(office.desk, run(), 1).error().code == ErrorCode::failed_precondition);
}

}  // namespace starling::operations
