// Reports that count, and reports that do not.
#include "coordinator/core/reports.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "shared/swarm/successor.h"
#include "tests/coordinator/core/swarm_harness.h"

namespace starling::core::testing {
namespace {

// Members that are averaging the first round in a group that was dealt to them, and will not come to an end of it.
struct Averaging : Swarm {
  explicit Averaging(int members) : Averaging(members, small_manifest()) {}
  Averaging(int members, const wire::RunManifest& manifest, const std::map<PeerId, AccountId>& accounts = {})
      : Swarm(manifest), numbers(members) {
    hosts.accounts = accounts;
    averaging_time = std::chrono::hours(1);
    for (int i = 1; i <= members; ++i) add(i, 20);
    for (int i = 1; i <= members; ++i) {
      while (member(i).phase != wire::MemberPhase::averaging) run_for(std::chrono::milliseconds(5));
      // By then it is seen there, and does nothing except what a test says.
      call(member(i));
      member(i).start = now + std::chrono::hours(2);
    }
    group = *member(1).group;
  }
  // All have brought 20 samples.
  [[nodiscard]] wire::RoundReport report() const { return report_in(group, first_state()); }
  [[nodiscard]] static wire::RoundReport report_in(const wire::GroupInfo& group, const Digest& state) {
    wire::RoundReport report;
    report.round = group.round;
    report.group = group.id;
    for (const wire::GroupMember& member : group.members) {
      report.members.push_back(member.endpoint.peer);
      report.contributions.push_back({member.endpoint.peer, 20});
    }
    report.state_digest = state_after(state, report.group);
    return report;
  }
  [[nodiscard]] wire::Contribution& of(wire::RoundReport& report, int number) const {
    return *std::find_if(report.contributions.begin(), report.contributions.end(),
                         [&](const auto& contribution) { return contribution.peer == peer_id(number); });
  }

  int numbers;
  wire::GroupInfo group;
};

HeartbeatDecision tell(Averaging& swarm, int number, const wire::RoundReport& report) {
  VirtualMember& member = swarm.member(number);
  member.phase = wire::MemberPhase::training;
  member.samples_per_s = 0;
  member.samples = 0;
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

}  // namespace

TEST_CASE("a report of a group that averaged at another state than the swarm's does not count") {
  Averaging swarm(3);
  wire::RoundReport report = swarm.report();
  report.base_digest.bytes.fill(0x66);
  for (const int number : {1, 2, 3}) {
    const HeartbeatDecision decision = tell(swarm, number, report);
    CHECK(rounds_in(decision) == 0);
    CHECK(decision.reply.notice ==
          "the report of round 0 does not count: its group averaged at another state than the swarm's");
  }
  report.base_digest = first_state();
  CHECK(rounds_in(tell(swarm, 1, report)) == 0);
  CHECK(rounds_in(tell(swarm, 2, report)) == 1);
}

TEST_CASE("a round is decided when more than half of the group's accounts say the same") {
  Averaging swarm(3);
  CHECK(rounds_in(tell(swarm, 1, swarm.report())) == 0);
  CHECK(rounds_in(tell(swarm, 2, swarm.report())) == 1);
  const auto third = tell(swarm, 3, swarm.report());
  CHECK(rounds_in(third) == 0);
  CHECK(third.reply.round == 1);
  CHECK(third.reply.state_digest == swarm.report().state_digest);
  swarm.run_for(std::chrono::milliseconds(50));
  REQUIRE(swarm.decided.size() == 1);
  CHECK(swarm.decided[0].contributions.size() == 3);
  CHECK(swarm.ledger.size() == 3);
}

TEST_CASE("a member that says it brought more than the others saw is credited with what they saw") {
  Averaging swarm(3);
  wire::RoundReport lie = swarm.report();
  swarm.of(lie, 1).samples = 200;
  CHECK(rounds_in(tell(swarm, 1, lie)) == 0);
  CHECK(rounds_in(tell(swarm, 2, swarm.report())) == 1);
  CHECK(rounds_in(tell(swarm, 3, swarm.report())) == 0);
  swarm.run_for(std::chrono::milliseconds(50));
  CHECK(swarm.ledger.at({0, peer_id(1)}) == 20);
}

TEST_CASE("what a group does not confirm is told once, whether it comes before the round is decided or after") {
  Averaging swarm(3);
  const auto claims = [](const HeartbeatDecision& decision) {
    std::vector<ClaimUnconfirmed> found;
    for (const StoreOp& op : decision.ops) {
      if (const auto* claim = std::get_if<ClaimUnconfirmed>(&op)) found.push_back(*claim);
    }
    return found;
  };
  wire::RoundReport lie = swarm.report();
  swarm.of(lie, 1).samples = 200;
  swarm.of(lie, 2).samples = 500;  // its word about others is nobody's claim
  CHECK(claims(tell(swarm, 1, lie)).empty());
  const auto decided = claims(tell(swarm, 2, swarm.report()));
  REQUIRE(decided.size() == 1);
  CHECK(decided[0].round == 0);
  CHECK(decided[0].peer == peer_id(1));
  CHECK(decided[0].account == 1001);
  CHECK(decided[0].samples == 180);
  CHECK(claims(tell(swarm, 3, swarm.report())).empty());
  CHECK(claims(tell(swarm, 1, lie)).empty());

  const wire::GroupInfo next =
      swarm::plan_successor(swarm.group, std::vector<SampleCount>{20, 20, 20}, swarm.report().state_digest);
  const wire::RoundReport second = Averaging::report_in(next, swarm.report().state_digest);
  CHECK(claims(tell(swarm, 2, second)).empty());
  CHECK(claims(tell(swarm, 3, second)).empty());
  wire::RoundReport late = second;
  swarm.of(late, 1).samples = 1'000'000'000'000'000'000;
  const auto afterwards = claims(tell(swarm, 1, late));
  REQUIRE(afterwards.size() == 1);
  CHECK(afterwards[0].round == 1);
  CHECK(afterwards[0].samples == kMemberSamplesMax - 20);
  CHECK(claims(tell(swarm, 1, late)).empty());
  CHECK(claims(tell(swarm, 2, second)).empty());  // confirmed, and late
}

TEST_CASE("without a majority of accounts nothing is decided, however long that lasts") {
  Averaging swarm(4);
  for (const int number : {1, 2}) tell(swarm, number, swarm.report());
  for (int i = 1; i <= 4; ++i) swarm.member(i).alive = false;
  swarm.run_for(std::chrono::minutes(10));
  CHECK(swarm.decided.empty());
}

TEST_CASE("of two that hold the same result, nobody gains by saying more than the other saw") {
  for (const int liar : {1, 2}) {
    CAPTURE(liar);
    Averaging swarm(2);
    wire::RoundReport lie = swarm.report();
    for (wire::Contribution& contribution : lie.contributions) contribution.samples += 100;
    for (int i = 1; i <= 2; ++i) tell(swarm, i, i == liar ? lie : swarm.report());
    swarm.run_for(std::chrono::milliseconds(50));
    REQUIRE(swarm.decided.size() == 1);
    for (int i = 1; i <= 2; ++i) CHECK(swarm.ledger.at({0, peer_id(i)}) == 20);
  }
}

TEST_CASE("a member that differs in what was brought still vouches for the result") {
  Averaging swarm(3);
  wire::RoundReport lie = swarm.report();
  swarm.of(lie, 1).samples += 100;
  wire::RoundReport other = swarm.report();
  other.contributions = {{peer_id(3), 400}};
  other.state_digest.bytes[0] ^= 1;
  tell(swarm, 3, other);
  tell(swarm, 1, lie);
  tell(swarm, 2, swarm.report());
  swarm.run_for(std::chrono::milliseconds(50));
  REQUIRE(swarm.decided.size() == 1);
  CHECK(swarm.decided[0].state_digest == swarm.report().state_digest);
  CHECK(swarm.ledger.at({0, peer_id(1)}) == 20);
}

TEST_CASE("a small part of the group that is done first decides nothing, and the others' result counts") {
  Averaging swarm(3);
  wire::RoundReport alone = swarm.report();
  alone.contributions = {{peer_id(1), 16}};
  tell(swarm, 1, alone);
  for (int i = 0; i < 20; ++i) {
    for (const int number : {2, 3}) swarm.call(swarm.member(number));
    swarm.run_for(std::chrono::milliseconds(200));
  }
  CHECK(swarm.decided.empty());
  wire::RoundReport both = swarm.report();
  both.contributions = {{peer_id(2), 40}, {peer_id(3), 32}};
  both.state_digest.bytes[0] ^= 1;
  for (const int number : {2, 3}) tell(swarm, number, both);
  swarm.run_for(std::chrono::milliseconds(50));
  REQUIRE(swarm.decided.size() == 1);
  CHECK(swarm.decided[0].state_digest == both.state_digest);
}

TEST_CASE("a round that is over is never credited again") {
  Averaging swarm(3);
  for (int i = 1; i <= 3; ++i) tell(swarm, i, swarm.report());
  swarm.run_for(std::chrono::milliseconds(50));
  for (int again = 0; again < 5; ++again) {
    wire::RoundReport report = swarm.report();
    report.contributions[0].samples += again;
    const auto decision = tell(swarm, 1 + again % 3, report);
    CHECK(rounds_in(decision) == 0);
    CHECK(decision.reply.acknowledged_rounds == 1);
  }
  CHECK(swarm.decided.size() == 1);
}

TEST_CASE("impossible reports are refused with a reason") {
  Averaging usual(3);
  const auto refused = [](const wire::RoundReport& report, const std::string& why, int reporter = 1) {
    Averaging swarm(3);
    if (reporter > 3) swarm.call(swarm.add(reporter));
    const auto decision = tell(swarm, reporter, report);
    CHECK_MESSAGE(decision.reply.notice.find(why) != std::string::npos, decision.reply.notice);
    swarm.run_for(std::chrono::seconds(3));
    CHECK(swarm.decided.empty());
  };
  wire::RoundReport report = usual.report();
  report.contributions[1].samples = 1'000'000;
  refused(report, "plausible are at most 3848");
  report = usual.report();
  report.contributions[1].samples = -5;
  refused(report, "-5 samples");
  report = usual.report();
  report.contributions[1].peer = report.contributions[0].peer;
  refused(report, "named twice");
  report = usual.report();
  report.contributions[1].peer = peer_id(9);
  refused(report, "a contributor is not in the group");
  report = usual.report();
  for (auto& contribution : report.contributions) contribution.samples = 0;
  refused(report, "nobody contributed");
  refused(usual.report(), "its sender is not in the group", 4);
  report = usual.report();
  report.state_digest = {};
  refused(report, "names no state");
  report = usual.report();
  report.group.bytes[0] ^= 1;
  refused(report, "was not dealt");
  report = usual.report();
  report.round = 1;
  refused(report, "of another round");
  report = usual.report();
  report.round = 1;
  report.group.bytes[0] ^= 1;
  refused(report, "has not reported the round before");
}

TEST_CASE("more samples than a line of the ledger takes are refused, however large the batch") {
  wire::RunManifest manifest = small_manifest();
  manifest.target_batch_size = kMemberSamplesMax;
  Averaging one(1);
  RecoveredRun recovered = running_run();
  SeatedGroup group{SeatedGroup::Origin::dealt, one.group.id, 0, {{{peer_id(1), 1001}}}, kMemberSamplesMax};
  recovered.groups = {group};
  Swarm swarm(manifest, recovered);
  VirtualMember& member = swarm.add(1, 0);
  member.reports = {one.report()};
  member.reports[0].contributions[0].samples = kMemberSamplesMax + 1;
  const auto decision = swarm.call(member);
  CHECK(rounds_in(decision) == 0);
  CHECK(decision.reply.notice.find("plausible are at most 1000000000") != std::string::npos);
  member.reports = {one.report()};
  member.reports[0].contributions[0].samples = kMemberSamplesMax;
  CHECK(rounds_in(swarm.call(member)) == 1);
}

TEST_CASE("who claims far more than was expected of all gets no credit for the round, and costs the others none") {
  Swarm swarm;
  for (int i = 1; i <= 4; ++i) swarm.add(i, 15);
  while (swarm.member(4).phase != wire::MemberPhase::averaging) swarm.run_for(std::chrono::milliseconds(5));
  const RoundIndex round = swarm.member(4).group->round;
  // 15 a second for 10 s is the most that each could have brought until all had to begin
  swarm.member(4).samples = 60 * 60;
  swarm.run_for(std::chrono::seconds(8));
  CHECK(swarm.decided.size() > 2);
  for (int i = 1; i <= 3; ++i) CHECK(swarm.ledger.contains({round, peer_id(i)}));
  CHECK_FALSE(swarm.ledger.contains({round, peer_id(4)}));
  CHECK(swarm.ledger.contains({round + 1, peer_id(4)}));
  CHECK(swarm.adopted.empty());
}

TEST_CASE("a report far ahead is kept by its sender, not here") {
  Averaging swarm(3);
  wire::RoundReport report = swarm.report();
  report.round = 1000;
  const auto decision = tell(swarm, 1, report);
  CHECK(decision.reply.notice.empty());
}

TEST_CASE("contributions of a host that is not known any more are left out") {
  Averaging swarm(3);
  tell(swarm, 1, swarm.report());
  swarm.hosts.unknown.insert(peer_id(3));
  tell(swarm, 2, swarm.report());
  swarm.run_for(std::chrono::milliseconds(50));
  REQUIRE(swarm.decided.size() == 1);
  CHECK(swarm.ledger.size() == 2);
}

TEST_CASE(
    "contradicting reports are kept within a budget: rounds far ahead make room for nearer ones, never the reverse") {
  ReportBook book(16 * 1024);
  const auto claim = [](RoundIndex round, int number) {  // no two alike, about a kilobyte each
    wire::RoundReport report;
    report.round = round;
    for (int i = 1; i <= 12; ++i) {
      report.members.push_back(peer_id(i));
      report.contributions.push_back({peer_id(i), i == 1 ? 1000 + number : 20});
    }
    report.state_digest = first_state();
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
  // Reports that are forgotten give their bytes back, all of them.
  book.forget_below(5);
  int again = 0;
  while (again < 100 && book.add({}, peer_id(again), claim(7, again)).ok()) ++again;
  CHECK(again == kept);
}

namespace {

// Two columns of three members each, which a coordinator before this one has dealt.
SeatedGroup two_columns() {
  SeatedGroup group{SeatedGroup::Origin::dealt, {}, 0, {{}, {}}, 1000};
  group.id.bytes.fill(9);
  for (int i = 1; i <= 6; ++i) group.columns[i <= 3 ? 0 : 1].push_back({peer_id(i), 1000 + i});
  return group;
}

RecoveredRun with_two_columns() {
  RecoveredRun recovered = running_run();
  recovered.groups = {two_columns()};
  return recovered;
}

struct Six : Swarm {
  Six() : Swarm(small_manifest(), with_two_columns()) {
    for (int i = 1; i <= 6; ++i) call(add(i, 0));
  }
};

wire::RoundReport column_report(std::uint32_t column, SampleCount each = 20) {
  wire::RoundReport report;
  report.group = two_columns().id;
  report.grid = wire::GridShare{column, {60, 60}};
  for (int i = 1; i <= 3; ++i) {
    report.members.push_back(peer_id(static_cast<int>(column) * 3 + i));
    report.contributions.push_back({report.members.back(), each});
  }
  report.state_digest = state_after(first_state(), report.group);
  return report;
}

HeartbeatDecision tell_column(Swarm& swarm, int number, const wire::RoundReport& report) {
  VirtualMember& member = swarm.member(number);
  member.phase = wire::MemberPhase::training;
  member.reports = {report};
  member.state_round = 1;
  member.state = report.state_digest;
  return swarm.call(member);
}

}  // namespace

TEST_CASE("a grid's round is decided when most of all accounts agree, with what most of each column claim") {
  Six swarm;
  for (int i = 1; i <= 3; ++i) CHECK(rounds_in(tell_column(swarm, i, column_report(0))) == 0);
  CHECK(rounds_in(tell_column(swarm, 4, column_report(1))) == 0);  // most of all, but not of the second column
  CHECK(rounds_in(tell_column(swarm, 5, column_report(1))) == 1);
  swarm.run_for(std::chrono::milliseconds(50));
  REQUIRE(swarm.decided.size() == 1);
  CHECK(swarm.ledger.size() == 6);
  CHECK(swarm.ledger.at({0, peer_id(1)}) == 20);
  CHECK(swarm.ledger.at({0, peer_id(6)}) == 20);
}

TEST_CASE("a column that does not come to a majority gets no credit, and holds nobody up") {
  Six swarm;
  for (int i = 1; i <= 3; ++i) tell_column(swarm, i, column_report(0));
  tell_column(swarm, 4, column_report(1));
  swarm.run_for(std::chrono::seconds(2));
  REQUIRE(swarm.decided.size() == 1);
  CHECK(swarm.ledger.size() == 3);
}

TEST_CASE("a column gets no more credit than the heads have accepted, and what most of it say") {
  Six swarm;
  CHECK(tell_column(swarm, 1, column_report(0, 21)).reply.notice.find("more than was accepted") != std::string::npos);
  wire::RoundReport greedy = column_report(0);
  greedy.contributions = {{peer_id(2), 60}};
  tell_column(swarm, 2, greedy);
  tell_column(swarm, 1, column_report(0));
  tell_column(swarm, 3, column_report(0));
  wire::RoundReport other_column = column_report(1);
  other_column.contributions[0].peer = peer_id(1);  // a member of the other one
  CHECK_FALSE(tell_column(swarm, 4, other_column).reply.notice.empty());
  tell_column(swarm, 5, column_report(1));
  tell_column(swarm, 6, column_report(1));
  swarm.run_for(std::chrono::seconds(3));
  REQUIRE(swarm.decided.size() == 1);
  CHECK(swarm.ledger.at({0, peer_id(2)}) == 20);
  CHECK(swarm.ledger.at({0, peer_id(4)}) == 20);
}

TEST_CASE("a member that got a grid's result without its column votes for it, and claims nothing") {
  Six swarm;
  wire::RoundReport cut_off = column_report(0);
  cut_off.contributions.clear();
  CHECK(tell_column(swarm, 1, cut_off).reply.notice.empty());
  tell_column(swarm, 2, column_report(0));
  tell_column(swarm, 3, column_report(0));
  tell_column(swarm, 4, column_report(1));
  tell_column(swarm, 5, column_report(1));
  swarm.run_for(std::chrono::milliseconds(50));
  REQUIRE(swarm.decided.size() == 1);
  CHECK(swarm.decided[0].survivors == 5);
  CHECK(swarm.ledger.size() == 6);
}

}  // namespace starling::core::testing
