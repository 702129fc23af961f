#include "client/session/report_queue.h"

#include <doctest/doctest.h>

#include "tests/client/session/session_names.h"

using namespace starling;
using namespace starling::session;

namespace {

wire::RoundReport report_of(RoundIndex round, std::size_t members) {
  wire::RoundReport report;
  report.round = round;
  report.members.resize(members, peer(1));
  return report;
}

}  // namespace

TEST_CASE("reports wait in their order until their rounds are settled") {
  ReportQueue queue({report_of(3, 2)});
  queue.add(report_of(4, 2));
  queue.add(report_of(5, 2));
  CHECK(queue.tell().size() == 3);
  queue.settle(5);
  REQUIRE(queue.size() == 1);
  CHECK(queue.first_round() == 5);
  CHECK(queue.drop(6) == 0);
  CHECK(queue.drop(5) == 1);
  CHECK(queue.empty());
  CHECK(queue.tell().empty());
}

TEST_CASE("a heartbeat carries few large reports, but always one") {
  ReportQueue queue({});
  queue.add(report_of(0, 4000));
  queue.add(report_of(1, 1));
  REQUIRE(queue.tell().size() == 1);
  CHECK(queue.tell()[0].round == 0);
}

TEST_CASE("what a report measured is told until it was heard, and the report until it is settled") {
  const auto measured = [](RoundIndex round) {
    wire::RoundReport report = report_of(round, 2);
    report.measured.emplace();
    return report;
  };
  ReportQueue queue({});
  queue.add(measured(3));
  CHECK(queue.tell()[0].measured);
  CHECK(queue.tell()[0].measured);  // the first call failed
  queue.add(measured(4));           // during the second one
  queue.on_heard();
  const std::vector<wire::RoundReport> told = queue.tell();
  REQUIRE(told.size() == 2);
  CHECK_FALSE(told[0].measured);
  CHECK(told[1].measured);
  // Another result of the round is another report.
  (void)queue.drop(3);
  queue.add(measured(4));
  queue.on_heard();
  CHECK(queue.tell()[0].measured);
}

TEST_CASE("of more reports than are kept the oldest is dropped") {
  ReportQueue queue({});
  for (RoundIndex round = 0; round <= 4096; ++round) queue.add(report_of(round, 1));
  CHECK(queue.size() == 4096);
  CHECK(queue.first_round() == 1);
  CHECK(queue.tell().size() == wire::kReportsPerHeartbeatMax);
}

TEST_CASE("an evaluation is told until it is heard, and again when it is asked for again") {
  Evaluations evaluations;
  CHECK_FALSE(evaluations.wanted(3));
  evaluations.ask(3);
  CHECK(evaluations.wanted(3));
  evaluations.on_measured(3, Evaluation{1.5, 100, {}});
  CHECK_FALSE(evaluations.wanted(3));
  REQUIRE(evaluations.tell());
  REQUIRE(evaluations.tell());  // the first call failed
  evaluations.on_heard();
  CHECK_FALSE(evaluations.tell());
  evaluations.ask(3);
  CHECK_FALSE(evaluations.wanted(3));
  REQUIRE(evaluations.tell());
  CHECK(evaluations.tell()->bits_per_byte == 1.5);
}

TEST_CASE("an evaluation that ended while a heartbeat was under way is told by the next one") {
  Evaluations evaluations;
  evaluations.on_measured(3, Evaluation{1.5, 100, {}});
  REQUIRE(evaluations.tell());
  evaluations.on_measured(4, Evaluation{1.4, 100, {}});
  evaluations.on_heard();
  REQUIRE(evaluations.tell());
  CHECK(evaluations.tell()->round == 4);
}

TEST_CASE("an evaluation that failed is told as such, and the last good one is still shown") {
  Evaluations evaluations;
  evaluations.on_measured(3, Evaluation{1.5, 100, {}});
  evaluations.on_measured(4, std::nullopt);
  REQUIRE(evaluations.tell());
  CHECK(evaluations.tell()->round == 4);
  CHECK(evaluations.tell()->bytes == 0);
  REQUIRE(evaluations.last_measured());
  CHECK(evaluations.last_measured()->round == 3);
}

TEST_CASE("troubles are told until a reply comes, and the oldest make room") {
  ReportQueue queue({});
  const auto trouble = [](RoundIndex round) {
    return wire::RoundTrouble{round, {}, {{peer(1), wire::Fault::slow}}, {}};
  };
  queue.add_trouble(trouble(1));
  CHECK(queue.tell_troubles().size() == 1);
  CHECK(queue.tell_troubles().size() == 1);  // the first call was lost
  queue.add_trouble(trouble(2));
  queue.on_heard();
  REQUIRE(queue.tell_troubles().size() == 1);
  CHECK(queue.tell_troubles()[0].round == 2);
  for (RoundIndex round = 3; round < 10; ++round) queue.add_trouble(trouble(round));
  queue.on_heard();
  CHECK(queue.tell_troubles().size() == wire::kTroublesPerHeartbeatMax);
  CHECK(queue.tell_troubles().back().round == 9);
  queue.on_heard();
  CHECK(queue.tell_troubles().empty());
}
