#include "coordinator/core/judge.h"

#include <doctest/doctest.h>

#include "coordinator/core/lease_book.h"
#include "shared/swarm/grid_plan.h"
#include "tests/coordinator/core/run_parts.h"
#include "tests/support/plain_signer.h"

namespace starling::core::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Judging : RunParts {
  explicit Judging(const RecoveredRun& recovered = running_run()) : judge(settings, recovered) {
    run.round = recovered.round;
    run.recovered = recovered.round > 0;
    if (run.recovered) run.canonical = recovered.state_digest;
  }

  [[nodiscard]] Judge::Situation at() const { return {now, wall, run, members}; }
  // Seats a group of these, all of which are averaging.
  SeatedGroup seat(std::uint8_t id, const std::vector<int>& numbers) {
    SeatedGroup group = seated_group(group_id(id), run.round, numbers, hosts);
    judge.seat(group);
    for (const int number : numbers) average(number);
    return group;
  }
  void average(int number) {
    wire::Heartbeat beat = training();
    beat.phase = wire::MemberPhase::averaging;
    (void)call(number, beat);
  }
  std::string tell(int number, const wire::RoundReport& report) {
    return judge.on_report(at(), peer_id(number), report, ops);
  }
  std::optional<Decision> decide() { return judge.decide(at(), nullptr, ops); }
  // The member calls with these results of its own.
  const Results& results_of(int number, const std::vector<wire::RoundReport>& reports) {
    wire::Heartbeat beat = training();
    beat.reports = reports;
    if (!reports.empty()) beat.state_round = reports.back().round + 1;
    Member& caller = call(number, beat);
    judge.note_results(at(), caller, beat);
    return caller.results;
  }
  template <typename Op>
  [[nodiscard]] std::size_t count() const {
    return static_cast<std::size_t>(
        std::count_if(ops.begin(), ops.end(), [](const StoreOp& op) { return std::holds_alternative<Op>(op); }));
  }

  Judge judge;
  std::vector<StoreOp> ops;
  const Digest next = state_after(first_state(), group_id(1));
};

wire::Seal seal_of(const SeatedGroup& group, std::uint32_t rank, std::uint8_t part) {
  wire::Seal seal{group.id, {}, rank, {}, {}};
  seal.part_digest.bytes[0] = part;
  seal.signature = starling::testing::plain_signer(group.columns[0][rank].peer)->sign(wire::signed_text(seal));
  return seal;
}

// A word about the group: the member of this rank sealed two parts.
wire::RoundTrouble proof_against(const SeatedGroup& group, std::uint32_t rank) {
  const PeerId& owner = group.columns[0][rank].peer;
  wire::RoundTrouble trouble;
  trouble.round = group.round;
  trouble.group = group.id;
  trouble.proofs = {wire::sealed_twice(owner, {seal_of(group, rank, 1), seal_of(group, rank, 2)})};
  return trouble;
}

}  // namespace

TEST_CASE("two seals of one owner put it out at once, whoever shows them") {
  Judging swarm;
  const SeatedGroup group = swarm.seat(1, {1, 2, 3, 4});
  const auto tell = [&](int number, const wire::RoundTrouble& trouble) {
    return swarm.judge.on_trouble(swarm.at(), swarm.members, peer_id(number), trouble, swarm.ops);
  };
  CHECK(tell(2, proof_against(group, 2)).empty());
  const PeerId& owner = group.columns[0][2].peer;
  CHECK(swarm.judge.standing_of(owner).sits_out);
  CHECK(swarm.members.find(owner)->standing.sits_out);
  CHECK(swarm.count<ProbationRestarted>() == 1);
  CHECK(tell(1, proof_against(group, 2)).empty());  // nothing new
  CHECK(swarm.count<ProbationRestarted>() == 1);
  for (const std::size_t rank : {0, 1, 3}) CHECK_FALSE(swarm.judge.standing_of(group.columns[0][rank].peer).sits_out);
}

TEST_CASE("a proof that proves nothing costs the one who shows it") {
  const auto refusal = [](auto spoil) {
    Judging swarm;
    const SeatedGroup group = swarm.seat(1, {1, 2, 3, 4});
    wire::RoundTrouble trouble = proof_against(group, 2);
    spoil(group, trouble.proofs[0]);
    const std::string why = swarm.judge.on_trouble(swarm.at(), swarm.members, peer_id(1), trouble, swarm.ops);
    CHECK(swarm.count<ProbationRestarted>() == (why.empty() ? 0 : 1));
    CHECK_FALSE(swarm.judge.standing_of(group.columns[0][2].peer).sits_out);
    return why;
  };
  using Lie = wire::SealedTwice;
  const std::string nothing = "the proof about round 0 proves nothing";
  CHECK(refusal([](const SeatedGroup&, Lie& lie) { lie.other = lie.one; }) == nothing);
  CHECK(refusal([](const SeatedGroup&, Lie& lie) { lie.other_signature = lie.one_signature; }) == nothing);
  CHECK(refusal([](const SeatedGroup&, Lie& lie) { lie.plan_digest.bytes[0] = 1; }) == nothing);
  CHECK(refusal([](const SeatedGroup&, Lie& lie) { lie.rank = 1; }) == nothing);
  CHECK(refusal([](const SeatedGroup&, Lie& lie) { lie.rank = 9; }) == nothing);
  CHECK(refusal([](const SeatedGroup& group, Lie& lie) { lie.owner = group.columns[0][1].peer; }) == nothing);
  CHECK(refusal([](const SeatedGroup& group, Lie& lie) {  // another group's
          SeatedGroup other = group;
          other.id = group_id(9);
          lie = proof_against(other, 2).proofs[0];
        }) == nothing);
}

TEST_CASE("in a grid, two seals prove a lie in any of its groups, and nowhere else") {
  const auto told = [](auto change) {
    Judging swarm;
    SeatedGroup grid = seated_group(group_id(1), swarm.run.round, {1, 2, 3}, swarm.hosts);
    grid.columns.push_back(seated_group(group_id(2), swarm.run.round, {4, 5, 6}, swarm.hosts).columns.front());
    swarm.judge.seat(grid);
    for (const int number : {1, 2, 3, 4, 5, 6}) swarm.average(number);
    SeatedGroup stage = grid;  // the group that the owner averaged in: its first column holds that group's ranks
    std::uint32_t rank = 0;
    change(grid, stage, rank);
    const PeerId owner = stage.columns[0][rank].peer;
    wire::RoundTrouble trouble = proof_against(stage, rank);
    trouble.group = grid.id;
    trouble.proofs[0].group = stage.id;
    const std::string why = swarm.judge.on_trouble(swarm.at(), swarm.members, peer_id(2), trouble, swarm.ops);
    CHECK(why.empty() == swarm.judge.standing_of(owner).sits_out);
    return why;
  };
  const std::string nothing = "the proof about round 0 proves nothing";
  const auto in_column = [](std::size_t column, GroupId swarm::StageIds::*id) {
    return [column, id](const SeatedGroup& grid, SeatedGroup& stage, std::uint32_t& rank) {
      stage.id = swarm::stage_ids(grid.id, column).*id;
      stage.columns = {grid.columns[column]};
      rank = 1;
    };
  };
  CHECK(told(in_column(0, &swarm::StageIds::column)).empty());
  CHECK(told(in_column(1, &swarm::StageIds::column)).empty());  // another column's lie, that a head has heard of
  CHECK(told(in_column(1, &swarm::StageIds::spread)).empty());
  CHECK(told([](const SeatedGroup& grid, SeatedGroup& stage, std::uint32_t& rank) {
          stage.id = swarm::stage_ids(grid.id, 0).heads;
          stage.columns = {{grid.columns[0][1], grid.columns[1][2]}};
          rank = 1;
        }).empty());
  CHECK(told([](const SeatedGroup& grid, SeatedGroup& stage, std::uint32_t& rank) {  // the other column's group
          stage.id = swarm::stage_ids(grid.id, 1).column;
          rank = 1;
        }) == nothing);
  CHECK(told([](const SeatedGroup&, SeatedGroup& stage, std::uint32_t&) { stage.id = group_id(9); }) == nothing);
  CHECK(told([](const SeatedGroup&, SeatedGroup&, std::uint32_t&) {}) == nothing);  // nobody averages in the grid's own
}

TEST_CASE("complaints about a round that failed are heard, from members of its group, once") {
  Judging swarm;
  const SeatedGroup group = swarm.seat(1, {1, 2, 3, 4, 5});
  wire::RoundTrouble trouble;
  trouble.round = group.round;
  trouble.group = group.id;
  trouble.complaints = {{peer_id(5), wire::Fault::nonsense}};
  const auto reliance_after = [&](const std::vector<int>& tellers) {
    for (const int number : tellers) {
      CHECK(swarm.judge.on_trouble(swarm.at(), swarm.members, peer_id(number), trouble, swarm.ops).empty());
    }
    swarm.judge.begin_round(swarm.run, swarm.members, swarm.ops);
    return swarm.judge.standing_of(peer_id(5)).reliance;
  };
  CHECK(reliance_after({1, 1, 7, 8, 9}) == 1);
  CHECK(reliance_after({2, 3}) < 1);
}

TEST_CASE("a round is decided by most accounts of its group, and its credit waits for the store") {
  Judging swarm;
  const SeatedGroup group = swarm.seat(1, {1, 2, 3});
  const wire::RoundReport report = report_of(group, swarm.next);
  CHECK(swarm.tell(1, report).empty());
  CHECK_FALSE(swarm.decide().has_value());
  CHECK(swarm.tell(2, report).empty());
  const std::optional<Decision> decision = swarm.decide();
  REQUIRE(decision.has_value());
  CHECK(decision->group == group.id);
  CHECK(decision->state_digest == swarm.next);
  CHECK(decision->averaged.size() == 3);
  CHECK(decision->samples == 60);
  CHECK(decision->averaging_ms == 80);
  REQUIRE(swarm.count<RoundDecided>() == 1);
  CHECK(swarm.judge.credit().rounds_pending() == 1);
  const AccountId account = swarm.hosts.account_of(peer_id(3)).value();
  CHECK(swarm.judge.credit().stored(account) == 0);
  swarm.judge.credit().on_stored(0);
  CHECK(swarm.judge.credit().stored(account) == 20);
}

TEST_CASE("a deferred member that has not reported does not hold the new state yet") {
  Judging swarm;
  const SeatedGroup group = swarm.seat(1, {1, 2, 3});
  swarm.member(3).seat.role = wire::MemberRole::deferred;
  for (const int number : {1, 2}) CHECK(swarm.tell(number, report_of(group, swarm.next)).empty());
  const std::optional<Decision> decision = swarm.decide();
  REQUIRE(decision.has_value());
  CHECK(decision->contributors == std::vector{peer_id(1), peer_id(2), peer_id(3)});
  CHECK(decision->averaged == std::vector{peer_id(1), peer_id(2)});
}

TEST_CASE("a report of a group that nobody dealt is refused, and is a false word unless the coordinator is new") {
  const auto spoiled = [](Judging& swarm) {
    const SeatedGroup foreign = seated_group(group_id(9), swarm.run.round, {1, 2}, swarm.hosts);
    CHECK_FALSE(swarm.tell(1, report_of(foreign, swarm.next)).empty());
    for (const int number : {1, 2, 3, 4}) (void)swarm.call(number, swarm.training());
    ++swarm.run.round;
    swarm.judge.begin_round(swarm.run, swarm.members, swarm.ops);
    return swarm.judge.standing_of(peer_id(1)).rounds;
  };
  Judging swarm;
  CHECK(spoiled(swarm) == 1);
  RecoveredRun recovered = running_run(4, first_state());
  recovered.last_credited = {{peer_id(7), 1007}};
  Judging restarted(recovered);
  CHECK(spoiled(restarted) == 0);
}

TEST_CASE("a false report puts out a member on probation at once, and any other after the second") {
  Judging swarm;
  bool on_probation = false;
  SUBCASE("on probation") { on_probation = true; }
  SUBCASE("with a voice") {}
  if (on_probation) swarm.hosts.on_probation.insert(swarm.hosts.account_of(peer_id(1)).value());
  for (int lies = 1; lies <= 2; ++lies) {
    for (const int number : {1, 2, 3, 4}) (void)swarm.call(number, swarm.training());
    const SeatedGroup foreign = seated_group(group_id(9), swarm.run.round, {1, 2}, swarm.hosts);
    CHECK_FALSE(swarm.tell(1, report_of(foreign, swarm.next)).empty());
    ++swarm.run.round;
    swarm.judge.begin_round(swarm.run, swarm.members, swarm.ops);
    CHECK(swarm.judge.standing_of(peer_id(1)).sits_out == (on_probation || lies == 2));
  }
}

TEST_CASE("right after a restart the accounts of the last round vouch for a group that the store has not kept") {
  RecoveredRun recovered = running_run(4, first_state());
  for (const int number : {1, 2, 3}) recovered.last_credited.push_back({peer_id(number), 1000 + number});
  Judging swarm(recovered);
  SUBCASE("in time") {
    const SeatedGroup lost = seated_group(group_id(1), 4, {1, 2, 3}, swarm.hosts);
    CHECK(swarm.tell(1, report_of(lost, swarm.next)).empty());
    CHECK(swarm.tell(2, report_of(lost, swarm.next)).empty());
    const std::optional<Decision> decision = swarm.decide();
    REQUIRE(decision.has_value());
    CHECK(decision->origin == SeatedGroup::Origin::vouched);
  }
  SUBCASE("too late") {
    swarm.now += swarm.settings.options.patience.absence + milliseconds(1);
    CHECK(swarm.judge.sweep(swarm.at()).empty());
    const SeatedGroup lost = seated_group(group_id(1), 4, {1, 2, 3}, swarm.hosts);
    CHECK_FALSE(swarm.tell(1, report_of(lost, swarm.next)).empty());
  }
}

TEST_CASE("a group whose accounts disagree is withdrawn, and its result does not count any more") {
  Judging swarm;
  const SeatedGroup group = swarm.seat(1, {1, 2});
  CHECK(swarm.tell(1, report_of(group, swarm.next)).empty());
  CHECK_FALSE(swarm.judge.is_hopeless(swarm.at(), group.id));
  CHECK(swarm.judge.sweep(swarm.at()).empty());
  CHECK(swarm.tell(2, report_of(group, first_state())).empty());
  CHECK(swarm.judge.is_hopeless(swarm.at(), group.id));
  CHECK(swarm.judge.sweep(swarm.at()) == std::vector{group.id});
  CHECK(swarm.judge.reports().first_at(0) == kNever);
  CHECK_FALSE(swarm.tell(1, report_of(group, swarm.next)).empty());
  CHECK_FALSE(swarm.decide().has_value());
}

TEST_CASE("a planned member that left without a result has no vote left, one that averages still has") {
  Judging swarm;
  const SeatedGroup group = swarm.seat(1, {1, 2});
  Plan plan;
  plan.id = group.id;
  plan.begin_by = swarm.now + seconds(5);
  Judge::Situation at = swarm.at();
  at.plan = &plan;
  for (const int number : {1, 2}) swarm.member(number).seat.attended = true;
  CHECK_FALSE(swarm.judge.is_hopeless(at, group.id));
  swarm.call(2, swarm.training()).seat.attended = true;
  CHECK(swarm.judge.is_hopeless(at, group.id));
}

TEST_CASE("whoever is in the others' result may still report it, though its calls are lost and it is forgotten") {
  Judging swarm;
  const SeatedGroup group = swarm.seat(1, {1, 2, 3, 4});
  Plan plan;
  plan.id = group.id;
  plan.begin_by = swarm.now;
  for (const int number : {1, 2}) swarm.member(number).seat.attended = true;
  swarm.members.remove(peer_id(3));  // it was silent for too long; the fourth stayed away
  swarm.now += 2 * kBeginSlack;
  wire::RoundReport report = report_of(group, swarm.next);
  report.contributions.pop_back();
  SUBCASE("it is not in the result") { report.contributions.pop_back(); }
  SUBCASE("it is") {}
  const bool is_in = report.contributions.size() == 3;
  for (const int number : {1, 2}) CHECK(swarm.tell(number, report).empty());
  const auto is_hopeless = [&] {
    Judge::Situation at = swarm.at();
    at.plan = &plan;
    return swarm.judge.is_hopeless(at, group.id);
  };
  CHECK(is_hopeless() != is_in);
  if (!is_in) return;
  SUBCASE("it reports") {
    CHECK(swarm.tell(3, report).empty());
    CHECK(swarm.decide().has_value());
  }
  SUBCASE("it calls, and has nothing to report") {
    swarm.now += seconds(1);
    swarm.call(3, swarm.training());
    CHECK(is_hopeless());
  }
  SUBCASE("it stays silent") {
    swarm.now += swarm.settings.options.patience.quorum;
    CHECK(is_hopeless());
  }
}

TEST_CASE("a member's results are open, early or void, and one thing at a time") {
  Judging swarm;
  const SeatedGroup group = swarm.seat(1, {1, 2, 3});
  const wire::RoundReport report = report_of(group, swarm.next);
  CHECK(swarm.results_of(1, {}).state == Results::State::none);
  CHECK(swarm.tell(1, report).empty());
  CHECK(swarm.results_of(1, {report}).state == Results::State::open);

  wire::RoundReport later = report;
  later.round = 1;
  const TimePoint since = swarm.now;
  CHECK(swarm.results_of(2, {later}).state == Results::State::early);
  swarm.now += swarm.settings.options.patience.absence;
  CHECK(swarm.results_of(2, {later}).state == Results::State::early);
  CHECK(swarm.member(2).results.early_since == since);
  swarm.now += milliseconds(1);
  CHECK(swarm.results_of(2, {later}).state == Results::State::voided);
  CHECK(swarm.results_of(2, {}).state == Results::State::none);
  CHECK(swarm.member(2).results.early_since == kNever);
  // It was not taken: a result of the round in work that does not count is void at once.
  CHECK(swarm.results_of(3, {report}).state == Results::State::voided);
}

TEST_CASE("after a rollback, results of later rounds are void at once, for nobody can bring the rounds before them") {
  RecoveredRun recovered = running_run(4, first_state());
  SUBCASE("rolled back") {
    Judging swarm(recovered);
    wire::RoundReport later = report_of(seated_group(group_id(9), 4, {1, 2}, swarm.hosts), swarm.next);
    later.round = 6;
    CHECK(swarm.results_of(1, {later}).state == Results::State::voided);
  }
  SUBCASE("an ordinary restart") {
    recovered.last_credited = {{peer_id(1), 1001}, {peer_id(2), 1002}};
    Judging swarm(recovered);
    wire::RoundReport later = report_of(seated_group(group_id(9), 4, {1, 2}, swarm.hosts), swarm.next);
    later.round = 6;
    CHECK(swarm.results_of(1, {later}).state == Results::State::early);
  }
}

TEST_CASE("samples that a member claims and its group does not confirm are told to the store once") {
  Judging swarm;
  const SeatedGroup group = swarm.seat(1, {1, 2, 3});
  for (const int number : {1, 2}) CHECK(swarm.tell(number, report_of(group, swarm.next)).empty());
  REQUIRE(swarm.decide().has_value());
  ++swarm.run.round;
  swarm.judge.begin_round(swarm.run, swarm.members, swarm.ops);
  CHECK(swarm.tell(3, report_of(group, swarm.next, 25)).empty());
  CHECK(swarm.tell(3, report_of(group, swarm.next, 25)).empty());
  REQUIRE(swarm.count<ClaimUnconfirmed>() == 1);
  CHECK(std::get<ClaimUnconfirmed>(swarm.ops.back()).samples == 5);
}

TEST_CASE(
    "a result that contradicts the decided one puts its account on probation again, before or after the decision") {
  Judging swarm;
  const SeatedGroup group = swarm.seat(1, {1, 2, 3});
  const wire::RoundReport lie = report_of(group, first_state());
  for (const int number : {1, 2}) CHECK(swarm.tell(number, report_of(group, swarm.next)).empty());
  SUBCASE("before") {
    CHECK(swarm.tell(3, lie).empty());
    CHECK(swarm.count<ProbationRestarted>() == 0);  // it may still be the truth
    REQUIRE(swarm.decide().has_value());
  }
  SUBCASE("after") {
    REQUIRE(swarm.decide().has_value());
    ++swarm.run.round;
    swarm.judge.begin_round(swarm.run, swarm.members, swarm.ops);
    CHECK(swarm.count<ProbationRestarted>() == 0);
    for (int time = 0; time < 2; ++time) CHECK(swarm.tell(3, lie).empty());
  }
  REQUIRE(swarm.count<ProbationRestarted>() == 1);
  for (const StoreOp& op : swarm.ops) {
    const auto* restarted = std::get_if<ProbationRestarted>(&op);
    if (restarted != nullptr) CHECK(restarted->account == swarm.hosts.account_of(peer_id(3)));
  }
}

TEST_CASE("where samples are leased, others earn nothing in rounds for which the coordinator was there") {
  RecoveredRun recovered = running_run();
  SeatedGroup::Origin origin = SeatedGroup::Origin::dealt;
  bool others_earn = true;
  SUBCASE("dealt") { others_earn = false; }
  SUBCASE("dealt, but it has just come back") { recovered = running_run(4, first_state()); }
  SUBCASE("without it") { origin = SeatedGroup::Origin::successor; }
  Judging swarm(recovered);
  const RoundIndex round = swarm.run.round;
  LeaseBook leases({1000}, 4, {});
  const auto dealt = leases.deal({peer_id(1), 1001, 5}, 1, 40, round);
  REQUIRE(dealt.has_value());
  leases.on_stored(*dealt);
  const SampleCount leased = dealt->leases.front().count;
  SeatedGroup group = seated_group(group_id(1), round, {1, 2, 3}, swarm.hosts);
  group.origin = origin;
  swarm.judge.seat(group);
  for (const int number : {1, 2, 3}) swarm.average(number);
  wire::RoundReport report = report_of(group, swarm.next);
  report.contributions[0] = {peer_id(1), leased + 100, dealt->leases.front().number};
  for (const int number : {1, 2}) CHECK(swarm.tell(number, report).empty());
  const auto decision = swarm.judge.decide(swarm.at(), &leases, swarm.ops);
  REQUIRE(decision.has_value());
  const auto& decided = std::get<RoundDecided>(swarm.ops.front());
  REQUIRE(decided.contributions.size() == (others_earn ? 3 : 1));
  CHECK(decided.contributions[0].samples == leased + (others_earn ? 100 : 0));
  CHECK(decision->credited.size() == decided.contributions.size());
  CHECK(decision->credited[0].samples == decided.contributions[0].samples);
}

TEST_CASE("when nobody holds the state the swarm goes back to one that it once agreed on, after a while") {
  RecoveredRun recovered = running_run(4, state_after(first_state(), group_id(4)));
  const Digest older = state_after(first_state(), group_id(3));
  recovered.states = {{3, older}};
  Judging swarm(recovered);
  const auto call = [&] {
    wire::Heartbeat beat = swarm.training();
    beat.state_round = 3;
    beat.state_digest = older;
    (void)swarm.call(1, beat);
  };
  call();
  CHECK_FALSE(swarm.judge.find_lost_state(swarm.at(), std::nullopt).has_value());
  swarm.now += swarm.settings.options.patience.adopt;
  call();
  SUBCASE("a member's") {
    const auto adopted = swarm.judge.find_lost_state(swarm.at(), std::nullopt);
    REQUIRE(adopted.has_value());
    CHECK(adopted->state_digest == older);
    CHECK(adopted->reported_round == 3);
    CHECK(adopted->round == 4);  // rounds never go back
    CHECK(adopted->ground == StateAdopted::Ground::decided);
  }
  SUBCASE("not before somebody had the time to come back, where there is a newer copy") {
    const wire::Checkpoint kept{4, state_after(older, group_id(8)), {older, 4000}};
    CHECK_FALSE(swarm.judge.find_lost_state(swarm.at(), kept).has_value());
    swarm.now += swarm.settings.options.patience.restore;
    call();
    const auto adopted = swarm.judge.find_lost_state(swarm.at(), kept);
    REQUIRE(adopted.has_value());
    CHECK(adopted->ground == StateAdopted::Ground::copy);
  }
  SUBCASE("not while somebody holds it") {
    (void)swarm.call(2, swarm.training());
    CHECK_FALSE(swarm.judge.find_lost_state(swarm.at(), std::nullopt).has_value());
    swarm.members.remove(peer_id(2));
    CHECK_FALSE(swarm.judge.find_lost_state(swarm.at(), std::nullopt).has_value());  // the wait begins again
  }
}

TEST_CASE("what members tell of lines counts from the next round on, and who tells nothing loses nothing by that") {
  Judging swarm;
  const SeatedGroup group = swarm.seat(1, {1, 2, 3, 4, 5});
  for (const int number : {2, 3, 4}) {
    wire::RoundReport report = report_of(group, swarm.next);
    report.received = {{0, 100.0 * number}};
    CHECK(swarm.tell(number, report).empty());
  }
  CHECK(swarm.decide().has_value());
  CHECK(swarm.tell(5, report_of(group, swarm.next)).empty());  // a program from before
  CHECK(swarm.member(1).speeds.seen_upload.accounts == 0);
  swarm.begin_round(swarm.next);
  swarm.judge.begin_round(swarm.run, swarm.members, swarm.ops);
  CHECK(swarm.member(1).speeds.seen_upload.accounts == 3);
  CHECK(swarm.member(1).speeds.seen_upload.bytes_per_s == 4 * 300);
  CHECK(swarm.member(2).speeds.seen_upload.accounts == 0);
  CHECK_FALSE(swarm.member(5).standing.sits_out);
  CHECK(swarm.member(5).standing.reliance == 1);
  CHECK(swarm.count<ProbationRestarted>() == 0);
}

}  // namespace starling::core::testing
