// Which reports count.
#include "coordinator/core/reports.h"

#include <doctest/doctest.h>

#include "tests/coordinator/core/swarm_harness.h"

namespace starling::core::testing {
namespace {

wire::RoundReport report_of(int reporter_count, RoundIndex round = 0) {
  wire::RoundReport report;
  report.round = round;
  report.group.bytes.fill(static_cast<std::uint8_t>(5 + round));
  for (int i = 1; i <= reporter_count; ++i) {
    report.members.push_back(peer_id(i));
    report.contributions.push_back({peer_id(i), 20});
  }
  report.state_digest = state_after(first_state(), report.group);
  return report;
}

HeartbeatDecision tell(Swarm& swarm, int number, const wire::RoundReport& report) {
  VirtualMember& member = swarm.member(number);
  member.phase = wire::MemberPhase::training;
  member.reports = {report};
  member.state_round = report.round + 1;
  member.state = report.state_digest;
  return swarm.call(member);
}

std::size_t rounds_in(const HeartbeatDecision& decision) {
  std::size_t rounds = 0;
  for (const StoreOp& op : decision.ops) rounds += std::holds_alternative<RoundDecided>(op) ? 1 : 0;
  return rounds;
}

// Three members that hold the first state and train nothing of their own.
struct Three : Swarm {
  Three() {
    for (int i = 1; i <= 3; ++i) call(add(i, 0));
  }
};

}  // namespace

TEST_CASE("a round is decided when most living members of the group say the same") {
  Three swarm;
  CHECK(rounds_in(tell(swarm, 1, report_of(3))) == 0);
  CHECK(rounds_in(tell(swarm, 2, report_of(3))) == 1);
  const auto third = tell(swarm, 3, report_of(3));
  CHECK(rounds_in(third) == 0);
  CHECK(third.reply.round == 1);
  CHECK(third.reply.state_digest == report_of(3).state_digest);
  swarm.run_for(std::chrono::milliseconds(50));
  REQUIRE(swarm.decided.size() == 1);
  CHECK(swarm.decided[0].contributions.size() == 3);
  CHECK(swarm.ledger.size() == 3);
}

TEST_CASE("a report that differs from the majority's changes nothing") {
  Three swarm;
  wire::RoundReport lie = report_of(3);
  lie.contributions[0].samples = 200;
  CHECK(rounds_in(tell(swarm, 1, lie)) == 0);
  CHECK(rounds_in(tell(swarm, 2, report_of(3))) == 0);
  CHECK(rounds_in(tell(swarm, 3, report_of(3))) == 1);
  swarm.run_for(std::chrono::milliseconds(50));
  CHECK(swarm.ledger.at({0, peer_id(1)}) == 20);
}

TEST_CASE("what a group does not confirm is told once, whether it comes before the round is decided or after") {
  Three swarm;
  const auto claims = [](const HeartbeatDecision& decision) {
    std::vector<ClaimUnconfirmed> found;
    for (const StoreOp& op : decision.ops) {
      if (const auto* claim = std::get_if<ClaimUnconfirmed>(&op)) found.push_back(*claim);
    }
    return found;
  };
  wire::RoundReport lie = report_of(3);
  lie.contributions[0].samples = 200;
  lie.contributions[1].samples = 500;  // what it says of others is nobody's claim
  CHECK(claims(tell(swarm, 1, lie)).empty());
  CHECK(claims(tell(swarm, 2, report_of(3))).empty());
  const auto decided = claims(tell(swarm, 3, report_of(3)));
  REQUIRE(decided.size() == 1);
  CHECK(decided[0].round == 0);
  CHECK(decided[0].peer == peer_id(1));
  CHECK(decided[0].account == 1001);
  CHECK(decided[0].samples == 180);
  CHECK(claims(tell(swarm, 1, lie)).empty());

  CHECK(claims(tell(swarm, 2, report_of(3, 1))).empty());
  CHECK(claims(tell(swarm, 3, report_of(3, 1))).empty());
  wire::RoundReport late = report_of(3, 1);
  late.contributions[0].samples = 1'000'000'000'000'000'000;
  const auto afterwards = claims(tell(swarm, 1, late));
  REQUIRE(afterwards.size() == 1);
  CHECK(afterwards[0].round == 1);
  CHECK(afterwards[0].samples == kMemberSamplesMax - 20);
  CHECK(claims(tell(swarm, 1, late)).empty());
  CHECK(claims(tell(swarm, 2, report_of(3, 1))).empty());  // confirmed, and late
}

TEST_CASE("without a majority the result with most reporters counts after a while") {
  Three swarm;
  tell(swarm, 1, report_of(3));
  for (int i = 1; i <= 3; ++i) swarm.member(i).alive = false;
  swarm.run_for(std::chrono::milliseconds(900));
  CHECK(swarm.decided.empty());
  swarm.run_for(std::chrono::milliseconds(600));
  CHECK(swarm.decided.size() == 1);
}

TEST_CASE("of two halves that lost each other, the one that brings more counts") {
  Swarm swarm;
  for (int i = 1; i <= 2; ++i) swarm.call(swarm.add(i, 0));
  wire::RoundReport little = report_of(2);
  little.contributions = {{peer_id(1), 8}};
  wire::RoundReport more = report_of(2);
  more.contributions = {{peer_id(2), 48}};
  more.state_digest.bytes[0] ^= 1;
  tell(swarm, 1, little);
  tell(swarm, 2, more);
  swarm.run_for(std::chrono::seconds(2));
  REQUIRE(swarm.decided.size() == 1);
  CHECK(swarm.ledger.at({0, peer_id(2)}) == 48);
}

TEST_CASE("of two that hold the same result, nobody gains by saying more than the other saw") {
  for (const int liar : {1, 2}) {
    CAPTURE(liar);
    Swarm swarm;
    for (int i = 1; i <= 2; ++i) swarm.call(swarm.add(i, 0));
    wire::RoundReport lie = report_of(2);
    for (wire::Contribution& contribution : lie.contributions) contribution.samples += 100;
    for (int i = 1; i <= 2; ++i) tell(swarm, i, i == liar ? lie : report_of(2));
    swarm.run_for(std::chrono::seconds(2));
    REQUIRE(swarm.decided.size() == 1);
    for (int i = 1; i <= 2; ++i) CHECK(swarm.ledger.at({0, peer_id(i)}) == 20);
  }
}

TEST_CASE("who differs in what was brought still holds the result: it outvotes another one") {
  Swarm swarm;
  for (int i = 1; i <= 4; ++i) swarm.call(swarm.add(i, 0));
  wire::RoundReport lie = report_of(4);
  lie.contributions[0].samples += 100;
  wire::RoundReport other = report_of(4);
  other.contributions = {{peer_id(3), 400}};
  other.state_digest.bytes[0] ^= 1;
  tell(swarm, 1, lie);
  tell(swarm, 2, report_of(4));
  tell(swarm, 3, other);
  for (int i = 1; i <= 4; ++i) swarm.member(i).alive = false;
  swarm.run_for(std::chrono::seconds(2));
  REQUIRE(swarm.decided.size() == 1);
  CHECK(swarm.decided[0].state_digest == report_of(4).state_digest);
  CHECK(swarm.ledger.at({0, peer_id(1)}) == 20);
}

TEST_CASE("a small part of the group that is done first waits for the part that still averages") {
  Three swarm;
  wire::RoundReport alone = report_of(3);
  alone.contributions = {{peer_id(1), 16}};
  tell(swarm, 1, alone);
  const auto averaging = [&](int number) {
    VirtualMember& member = swarm.member(number);
    member.phase = wire::MemberPhase::averaging;
    member.start = swarm.now + std::chrono::hours(1);
    swarm.call(member);
  };
  for (int i = 0; i < 20; ++i) {
    for (int number : {2, 3}) averaging(number);
    swarm.run_for(std::chrono::milliseconds(200));
  }
  CHECK(swarm.decided.empty());
  wire::RoundReport both = report_of(3);
  both.contributions = {{peer_id(2), 40}, {peer_id(3), 32}};
  both.state_digest.bytes[0] ^= 1;
  for (int number : {2, 3}) tell(swarm, number, both);
  swarm.run_for(std::chrono::milliseconds(50));
  REQUIRE(swarm.decided.size() == 1);
  CHECK(swarm.decided[0].state_digest == both.state_digest);
}

TEST_CASE("a round that is over is never credited again") {
  Three swarm;
  for (int i = 1; i <= 3; ++i) tell(swarm, i, report_of(3));
  swarm.run_for(std::chrono::milliseconds(50));
  for (int again = 0; again < 5; ++again) {
    wire::RoundReport report = report_of(3);
    report.contributions[0].samples += again;
    const auto decision = tell(swarm, 1 + again % 3, report);
    CHECK(rounds_in(decision) == 0);
    CHECK(decision.reply.acknowledged_rounds == 1);
  }
  CHECK(swarm.decided.size() == 1);
}

TEST_CASE("impossible reports are refused with a reason") {
  const auto refused = [](const wire::RoundReport& report, const std::string& why, int reporter = 1) {
    Three swarm;
    swarm.hosts.unknown.insert(peer_id(66));
    const auto decision = tell(swarm, reporter, report);
    CHECK_MESSAGE(decision.reply.notice.find(why) != std::string::npos, decision.reply.notice);
    swarm.run_for(std::chrono::seconds(3));
    CHECK(swarm.decided.empty());
  };
  wire::RoundReport report = report_of(3);
  report.contributions[1].samples = 1'000'000;
  refused(report, "plausible are at most 3848");
  report = report_of(3);
  report.contributions[1].samples = -5;
  refused(report, "-5 samples");
  report = report_of(3);
  report.contributions[1].peer = peer_id(1);
  refused(report, "named twice");
  report = report_of(3);
  report.contributions[1].peer = peer_id(9);
  refused(report, "a contributor is not in the group");
  report = report_of(3);
  for (auto& contribution : report.contributions) contribution.samples = 0;
  refused(report, "nobody contributed");
  report = report_of(3);
  report.members.push_back(peer_id(66));
  refused(report, "not of this project");
  report = report_of(3);
  report.members.push_back(peer_id(2));
  refused(report, "a member is named twice");
  report = report_of(2);
  refused(report, "its sender is not in the group", 3);
  report = report_of(3);
  report.state_digest = {};
  refused(report, "names no state");
}

TEST_CASE("more samples than a line of the ledger takes are refused, however large the batch") {
  wire::RunManifest manifest = small_manifest();
  manifest.target_batch_size = kMemberSamplesMax;
  Swarm swarm(manifest);
  swarm.call(swarm.add(1, 0));
  wire::RoundReport report = report_of(1);
  report.contributions[0].samples = kMemberSamplesMax + 1;
  const auto decision = tell(swarm, 1, report);
  CHECK(rounds_in(decision) == 0);
  CHECK(decision.reply.notice.find("plausible are at most 1000000000") != std::string::npos);
  report.contributions[0].samples = kMemberSamplesMax;
  CHECK(rounds_in(tell(swarm, 1, report)) == 1);
}

TEST_CASE("who claims far more than was expected of all gets no credit for the round, and costs the others none") {
  Swarm swarm;
  for (int i = 1; i <= 4; ++i) swarm.add(i, 15);
  while (swarm.member(4).phase != wire::MemberPhase::averaging) swarm.run_for(std::chrono::milliseconds(5));
  const RoundIndex round = swarm.member(4).group->round;
  swarm.member(4).samples = 60 * 60;  // 15 a second for 10 s is what might have come of each until all had to begin
  swarm.run_for(std::chrono::seconds(8));
  CHECK(swarm.decided.size() > 2);
  for (int i = 1; i <= 3; ++i) CHECK(swarm.ledger.contains({round, peer_id(i)}));
  CHECK_FALSE(swarm.ledger.contains({round, peer_id(4)}));
  CHECK(swarm.ledger.contains({round + 1, peer_id(4)}));
  CHECK(swarm.adopted.empty());
}

TEST_CASE("a report far ahead is kept by its sender, not here") {
  Three swarm;
  const auto decision = tell(swarm, 1, report_of(3, 1000));
  CHECK(decision.reply.acknowledged_rounds == 0);
  CHECK(decision.reply.notice.empty());
}

TEST_CASE("contributions of a host that is not known any more are left out") {
  Three swarm;
  tell(swarm, 1, report_of(3));
  swarm.hosts.unknown.insert(peer_id(3));
  tell(swarm, 2, report_of(3));
  swarm.run_for(std::chrono::milliseconds(50));
  REQUIRE(swarm.decided.size() == 1);
  CHECK(swarm.ledger.size() == 2);
}

TEST_CASE(
    "contradicting reports are kept within a budget: rounds far ahead make room for nearer ones, never the reverse") {
  ReportBook book(16 * 1024);
  const auto claim = [](RoundIndex round, int number) {  // no two alike, about a kilobyte each
    wire::RoundReport report = report_of(12, round);
    report.contributions[0].samples = 1000 + number;
    return report;
  };
  int kept = 0;
  while (kept < 100 && book.add({}, peer_id(kept), claim(5, kept)).ok()) ++kept;
  CHECK(kept > 5);
  CHECK(kept < 30);
  CHECK(book.add({}, peer_id(1), claim(6, 0)).error().code == ErrorCode::resource_exhausted);
  CHECK(book.add({}, peer_id(1), claim(4, 0)).ok());
  CHECK(book.has_spoken(peer_id(1), 4));
  CHECK_FALSE(book.has_spoken(peer_id(1), 5));  // may tell it again
  CHECK(book.add({}, peer_id(2), claim(4, 0)).ok());
  CHECK(book.classes(4).size() == 1);
  // What is forgotten gives its bytes back, all of them.
  book.forget_below(5);
  int again = 0;
  while (again < 100 && book.add({}, peer_id(again), claim(7, again)).ok()) ++again;
  CHECK(again == kept);
}

namespace {

// Of column `column` of two, with three members each.
wire::RoundReport column_report(std::uint32_t column, SampleCount each = 20) {
  wire::RoundReport report;
  report.group.bytes.fill(9);
  report.grid = wire::GridShare{column, {60, 60}};
  for (int i = 1; i <= 3; ++i) {
    report.members.push_back(peer_id(static_cast<int>(column) * 3 + i));
    report.contributions.push_back({report.members.back(), each});
  }
  report.state_digest = state_after(first_state(), report.group);
  return report;
}

struct Six : Swarm {
  Six() {
    for (int i = 1; i <= 6; ++i) call(add(i, 0));
  }
};

}  // namespace

TEST_CASE("a grid's round is decided when most agree and every column has told; its credit is all columns'") {
  Six swarm;
  for (int i = 1; i <= 3; ++i) CHECK(rounds_in(tell(swarm, i, column_report(0))) == 0);
  CHECK(rounds_in(tell(swarm, 4, column_report(1))) == 1);
  swarm.run_for(std::chrono::milliseconds(50));
  REQUIRE(swarm.decided.size() == 1);
  CHECK(swarm.ledger.size() == 6);
  CHECK(swarm.ledger.at({0, peer_id(1)}) == 20);
  CHECK(swarm.ledger.at({0, peer_id(6)}) == 20);
}

TEST_CASE("a column gets no more credit than the heads have accepted, and what most of it say") {
  Six swarm;
  CHECK(tell(swarm, 1, column_report(0, 21)).reply.notice.find("more than was accepted") != std::string::npos);
  wire::RoundReport greedy = column_report(0);
  greedy.contributions = {{peer_id(2), 60}};
  tell(swarm, 2, greedy);
  tell(swarm, 1, column_report(0));
  tell(swarm, 3, column_report(0));
  wire::RoundReport other_column = column_report(1);
  other_column.contributions[0].peer = peer_id(1);  // who is in the other one
  CHECK_FALSE(tell(swarm, 4, other_column).reply.notice.empty());
  tell(swarm, 5, column_report(1));
  swarm.run_for(std::chrono::seconds(3));
  REQUIRE(swarm.decided.size() == 1);
  CHECK(swarm.ledger.at({0, peer_id(2)}) == 20);
  CHECK(swarm.ledger.at({0, peer_id(4)}) == 20);
}

TEST_CASE("who got a grid's result without its column votes for it, and claims nothing") {
  Six swarm;
  wire::RoundReport cut_off = column_report(0);
  cut_off.contributions.clear();
  CHECK(tell(swarm, 1, cut_off).reply.notice.empty());
  tell(swarm, 2, column_report(0));
  tell(swarm, 3, column_report(0));
  tell(swarm, 4, column_report(1));
  swarm.run_for(std::chrono::milliseconds(50));
  REQUIRE(swarm.decided.size() == 1);
  CHECK(swarm.decided[0].survivors == 4);
  CHECK(swarm.ledger.size() == 6);
}

}  // namespace starling::core::testing
