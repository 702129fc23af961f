#include "coordinator/core/planner.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/coordinator/core/run_parts.h"

namespace starling::core::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Planning : RunParts {
  explicit Planning(std::size_t last_group = 0, const wire::RunManifest& manifest = small_manifest())
      : RunParts(manifest), planner(settings, last_group) {}

  [[nodiscard]] Planner::Situation at() const { return {now, run, reports, evaluation, rounds_pending}; }
  std::optional<SeatedGroup> plan() { return planner.make_plan(at(), members); }
  // Members that call again in this moment; 20 samples a second each.
  void call_all(const std::vector<int>& numbers) {
    for (const int number : numbers) {
      wire::Heartbeat beat = training();
      beat.samples_this_round = std::llround(20 * to_seconds(now - run.round_began));
      if (fast_line > 0) beat.upload_bytes_per_s = beat.download_bytes_per_s = number == 1 ? fast_line : 1e6;
      Member& member = call(number, beat);
      if (number >= blocked_from) member.reach.verdict = wire::Reachability::blocked;
    }
  }
  void average(int number) {
    wire::Heartbeat beat = training();
    beat.phase = wire::MemberPhase::averaging;
    Member& member = call(number, beat);
    member.seat.told = true;  // by an answer
    arrival = planner.on_call(now, member);
  }
  // The share of member 1 in a plan of these members.
  double share_of_first(const std::vector<int>& numbers) {
    planner.give_up(planned(numbers).id);
    const wire::GroupInfo& group = last_group;
    const auto first = std::find_if(group.members.begin(), group.members.end(),
                                    [](const auto& member) { return member.endpoint.peer == peer_id(1); });
    return static_cast<double>(first->part_floats) / static_cast<double>(group.vector_floats);
  }
  // Passes until the round is planned.
  SeatedGroup planned(const std::vector<int>& numbers) {
    for (int i = 0; i < 1000; ++i, now += milliseconds(10)) {
      call_all(numbers);
      if (auto seated = plan()) {
        last_group = planner.plan()->groups.front();
        return *seated;
      }
    }
    FAIL("no plan");
    return {};
  }

  double fast_line = 0;     // member 1's, where the others' carry 1e6; 0: none is known
  int blocked_from = 1000;  // members from here on cannot be dialled
  wire::GroupInfo last_group;
  ReportBook reports;
  EvaluationTurn evaluation{std::nullopt};
  std::size_t rounds_pending = 0;
  Planner planner;
  std::optional<Duration> arrival;
};

}  // namespace

TEST_CASE("a round is planned one lead before its batch is full, and its phase says where it is") {
  Planning swarm;
  swarm.call_all({1, 2, 3});  // 60 samples in a second
  const TimePoint due = swarm.planner.due_at(swarm.at(), swarm.members);
  const Duration lead = swarm.planner.lead(swarm.run, swarm.members);
  CHECK(to_seconds(due - swarm.now) == doctest::Approx(1 - to_seconds(lead)));
  CHECK_FALSE(swarm.plan().has_value());
  CHECK(swarm.planner.phase(swarm.now) == RoundPhase::gathering);

  const SeatedGroup seated = swarm.planned({1, 2, 3});
  // Members tell whole samples, so that the time may differ by half of one.
  CHECK(swarm.now + milliseconds(25) >= due);
  CHECK(swarm.now < due + lead);
  CHECK(seated.round == 0);
  CHECK(seated.seats().size() == 3);
  REQUIRE(swarm.planner.plan() != nullptr);
  CHECK(swarm.planner.plan()->id == seated.id);
  CHECK(swarm.planner.phase(swarm.now) == RoundPhase::announced);
  CHECK(swarm.planner.phase(swarm.planner.plan()->start) == RoundPhase::averaging);
  CHECK_FALSE(swarm.planner.reason().empty());
  CHECK(swarm.planner.due_at(swarm.at(), swarm.members) == kNever);
}

TEST_CASE("nothing is planned while the store is behind, after a report, or when the run is paused") {
  Planning swarm;
  swarm.call_all({1, 2, 3});
  REQUIRE(swarm.planner.due_at(swarm.at(), swarm.members) != kNever);
  SUBCASE("store") { swarm.rounds_pending = kRoundsPendingMax; }
  SUBCASE("paused") { swarm.run.state = wire::RunState::paused; }
  SUBCASE("just restarted") { swarm.run.recovered = true; }
  SUBCASE("report") {
    const SeatedGroup group = seated_group(group_id(1), 0, {1, 2, 3}, swarm.hosts);
    REQUIRE(swarm.reports.add(swarm.now, peer_id(1), report_of(group, first_state())).ok());
  }
  CHECK(swarm.planner.due_at(swarm.at(), swarm.members) == kNever);
}

TEST_CASE("nobody waits for a batch that is far longer than the others', and a liar's hour is no usual batch") {
  Planning swarm;
  swarm.run.rhythm.round = seconds(1);
  wire::Heartbeat hour = swarm.training();
  hour.batch_seconds = 3600;
  for (int i = 0; i < 1000 && swarm.planner.plan() == nullptr; ++i, swarm.now += milliseconds(10)) {
    swarm.call_all({1, 2, 3});
    (void)swarm.call(4, hour);
    (void)swarm.plan();
  }
  const Plan* plan = swarm.planner.plan();
  REQUIRE(plan != nullptr);
  CHECK(plan->begin_by - plan->start < seconds(10));
  CHECK(swarm.member(4).late());
  CHECK_FALSE(swarm.member(1).late());
}

TEST_CASE("members that were waited for and did not begin are named when the wait is over") {
  Planning swarm;
  swarm.run.rhythm.round = seconds(1);
  swarm.planned({1, 2, 3});
  const Plan& plan = *swarm.planner.plan();
  swarm.now = plan.start;
  for (const int number : {1, 2}) swarm.average(number);
  CHECK(swarm.planner.absentees(swarm.at(), swarm.members).empty());
  swarm.now = plan.begin_by + milliseconds(1);
  (void)swarm.call(3, swarm.training());
  const auto absent = swarm.planner.absentees(swarm.at(), swarm.members);
  REQUIRE_FALSE(absent.empty());
  REQUIRE(absent.size() == 1);
  CHECK(absent.front().peer == peer_id(3));
  CHECK(absent.front().rounds == doctest::Approx(to_seconds(plan.begin_by - plan.start)));
  wire::Heartbeat paused = swarm.training();
  paused.phase = wire::MemberPhase::paused;
  (void)swarm.call(3, paused);
  CHECK_FALSE(swarm.planner.absentees(swarm.at(), swarm.members).front().calls_on);
  CHECK(absent.front().calls_on);
}

TEST_CASE("a member that is forgotten, or leaves, while it is waited for is named all the same") {
  Planning swarm;
  swarm.run.rhythm.round = seconds(1);
  swarm.planned({1, 2, 3});
  const Plan& plan = *swarm.planner.plan();
  swarm.now = plan.begin_by + milliseconds(1);
  for (const int number : {1, 2}) swarm.average(number);
  SUBCASE("it leaves") { swarm.members.remove(peer_id(3)); }
  SUBCASE("it is forgotten, and calls again") {
    swarm.members.remove(peer_id(3));
    (void)swarm.call(3, swarm.training());
  }
  const auto absent = swarm.planner.absentees(swarm.at(), swarm.members);
  REQUIRE(absent.size() == 1);
  CHECK(absent.front().peer == peer_id(3));
}

TEST_CASE("a member that says it averages, and that most others have not seen, was waited for as well") {
  Planning swarm;
  swarm.run.rhythm.round = seconds(1);
  swarm.planned({1, 2, 3});
  swarm.now = swarm.planner.plan()->begin_by + milliseconds(1);
  for (const int number : {1, 2, 3}) swarm.average(number);
  CHECK(swarm.planner.absentees(swarm.at(), swarm.members).empty());
  const auto absent = swarm.planner.absentees(swarm.at(), swarm.members, {peer_id(3)});
  REQUIRE(absent.size() == 1);
  CHECK(absent.front().peer == peer_id(3));
  CHECK(absent.front().said_so);
}

TEST_CASE("a member that stayed away has a late place until it comes") {
  Planning swarm;
  swarm.run.rhythm.round = seconds(1);
  swarm.call_all({1, 2, 3});
  swarm.member(3).away.stayed_away = true;
  swarm.planned({1, 2, 3});
  CHECK(swarm.member(3).late());
  CHECK_FALSE(swarm.member(1).late());
  swarm.average(3);
  CHECK_FALSE(swarm.member(3).away.stayed_away);
}

TEST_CASE("members that stayed away are waited for if they are most of all, or if nobody can come late") {
  wire::RunManifest manifest = small_manifest();
  SUBCASE("most") {}
  SUBCASE("low rank") { manifest.round.low_rank = 2; }
  Planning swarm(0, manifest);
  swarm.run.rhythm.round = seconds(1);
  swarm.call_all({1, 2, 3});
  if (manifest.round.low_rank == 0) swarm.member(2).away.stayed_away = true;
  swarm.member(3).away.stayed_away = true;
  swarm.planned({1, 2, 3});
  CHECK_FALSE(swarm.member(3).late());
}

TEST_CASE("without most of the last group a full batch waits, but not for ever") {
  Planning swarm(5);
  swarm.now += seconds(2);
  swarm.call_all({1, 2});
  CHECK_FALSE(swarm.plan().has_value());
  CHECK(swarm.planner.phase(swarm.now) == RoundPhase::waiting);
  SUBCASE("two of five") {
    swarm.now += swarm.settings.options.patience.quorum;
    swarm.call_all({1, 2});
    CHECK(swarm.plan().has_value());
  }
  SUBCASE("one more says goodbye, and the others are most of those that are left") {
    swarm.planner.on_goodbye();
    swarm.planner.on_goodbye();
    swarm.call_all({1, 2});
    CHECK(swarm.plan().has_value());
  }
}

TEST_CASE("a planned member is told of its group until it has begun, a late one even after the start") {
  Planning swarm;
  const SeatedGroup seated = swarm.planned({1, 2, 3});
  const auto outlook = [&](int number) {
    return swarm.planner.outlook(swarm.at(), swarm.members, swarm.member(number));
  };
  REQUIRE(outlook(1).group.has_value());
  CHECK(outlook(1).group->id == seated.id);
  CHECK(outlook(1).awaited);
  CHECK(outlook(1).start == swarm.planner.plan()->start);
  CHECK(outlook(1).group->start_in_ms == to_ms(swarm.planner.plan()->start - swarm.now));
  swarm.now = swarm.planner.plan()->start + milliseconds(30);
  swarm.average(1);
  CHECK(swarm.arrival == milliseconds(30));
  swarm.average(1);
  CHECK_FALSE(swarm.arrival.has_value());  // it is counted once
  CHECK_FALSE(outlook(1).group.has_value());
  REQUIRE(outlook(2).group.has_value());
  CHECK(outlook(2).group->start_in_ms == 0);
}

TEST_CASE("an arrival that the member's batches do not explain is no measure of how long members take") {
  Planning swarm;
  swarm.planned({1, 2, 3});
  const TimePoint start = swarm.planner.plan()->start;
  swarm.now = start + milliseconds(1070);  // a batch takes 50 ms
  swarm.average(1);
  CHECK(swarm.arrival == milliseconds(1070));
  swarm.now = start + milliseconds(1080);
  swarm.average(2);
  CHECK_FALSE(swarm.arrival.has_value());  // it lost an answer
  CHECK(swarm.member(2).seat.attended);
}

TEST_CASE("a plan has failed when nobody came in time, or when it has no end") {
  Planning swarm;
  (void)swarm.planned({1, 2, 3});
  const Plan plan = *swarm.planner.plan();
  CHECK_FALSE(swarm.planner.has_failed(swarm.at(), swarm.members));
  swarm.now = plan.begin_by + kBeginSlack;
  CHECK_FALSE(swarm.planner.has_failed(swarm.at(), swarm.members));
  swarm.now += milliseconds(1);
  CHECK(swarm.planner.has_failed(swarm.at(), swarm.members));
  swarm.average(2);
  CHECK_FALSE(swarm.planner.has_failed(swarm.at(), swarm.members));
  swarm.now = plan.start + swarm.settings.options.plans.averaging_max + milliseconds(1);
  swarm.average(2);
  CHECK(swarm.planner.has_failed(swarm.at(), swarm.members));

  swarm.planner.give_up(group_id(9));  // another group's end is not the plan's
  CHECK(swarm.planner.plan() != nullptr);
  swarm.planner.give_up(plan.id);
  CHECK(swarm.planner.phase(swarm.now) == RoundPhase::waiting);
  const SeatedGroup again = swarm.planned({1, 2, 3});
  CHECK(again.id != plan.id);
  CHECK(again.round == 0);
}

TEST_CASE("a member that missed its group may have the result until the next plan starts") {
  Planning swarm;
  const SeatedGroup seated = swarm.planned({1, 2, 3});
  for (const int number : {1, 2}) swarm.average(number);
  swarm.planner.on_decided(seated.id, 2);
  for (const int number : {1, 2}) swarm.member(number).met_in = 0;
  const Digest old = swarm.run.canonical;
  swarm.begin_round(state_after(old, seated.id));
  wire::Heartbeat missed = swarm.training();
  missed.state_round = 0;
  missed.state_digest = old;
  const Member& third = swarm.call(3, missed);
  const Outlook outlook = swarm.planner.outlook(swarm.at(), swarm.members, third);
  REQUIRE(outlook.group.has_value());
  CHECK(outlook.group->id == seated.id);
  CHECK(outlook.group->start_in_ms == 0);
  CHECK_FALSE(swarm.planner.outlook(swarm.at(), swarm.members, swarm.call(4, missed)).group.has_value());

  (void)swarm.planned({1, 2});
  CHECK(swarm.planner.outlook(swarm.at(), swarm.members, third).group.has_value());
  swarm.now = swarm.planner.plan()->start;
  CHECK_FALSE(swarm.planner.outlook(swarm.at(), swarm.members, third).group.has_value());
}

TEST_CASE("a decided plan tells how much later its batch would have been full") {
  Planning swarm;
  const SeatedGroup seated = swarm.planned({1, 2, 3});
  CHECK(swarm.planner.plan()->samples == doctest::Approx(60));
  const auto fill = swarm.planner.fill_of(seated.id, 45, milliseconds(100));
  REQUIRE(fill.has_value());
  CHECK(fill->batch_s == doctest::Approx(1));
  CHECK(fill->later_s == doctest::Approx(0.25));
  CHECK_FALSE(swarm.planner.fill_of(group_id(9), 45, milliseconds(100)).has_value());
  CHECK_FALSE(swarm.planner.fill_of(seated.id, 45, seconds(2)).has_value());  // the forecast had no say in it
}

TEST_CASE("a plan of far more samples than a batch has teaches nothing: they are somebody's word") {
  Planning swarm;
  wire::Heartbeat boast = swarm.training();
  boast.samples_this_round = 100'000;
  boast.batch_seconds = 0;
  (void)swarm.call(4, boast);
  CHECK_FALSE(swarm.plan().has_value());  // it is full by that word, and waits for a member that has computed
  boast.batch_seconds = 0.1;
  (void)swarm.call(4, boast);
  const std::optional<SeatedGroup> seated = swarm.plan();
  REQUIRE(seated.has_value());
  CHECK(swarm.planner.plan()->samples > 4 * 60);
  CHECK_FALSE(swarm.planner.fill_of(seated->id, 45, milliseconds(100)).has_value());
}

TEST_CASE("members of one account share a voter's number, others have none") {
  Planning swarm;
  swarm.hosts.accounts = {{peer_id(1), 7}, {peer_id(3), 7}};
  (void)swarm.planned({1, 2, 3});
  const wire::GroupInfo& group = swarm.planner.plan()->groups.front();
  REQUIRE(group.members.size() == 3);
  for (const wire::GroupMember& member : group.members) {
    CHECK((member.voter == 0) == (member.endpoint.peer == peer_id(2)));
  }
}

TEST_CASE("a plan has room for what its members may have by its begin, and for four batches of anybody at first") {
  Planning swarm;
  const auto room_of = [&](int number) {
    for (const wire::GroupMember& member : swarm.planner.plan()->groups.front().members) {
      if (member.endpoint.peer == peer_id(number)) return member.weight_max;
    }
    return SampleCount{-1};
  };
  SeatedGroup seated = swarm.planned({1, 2});
  const wire::RunManifest& manifest = swarm.settings.manifest;
  const SampleCount at_first = 4 * manifest.target_batch_size + manifest.micro_batch_size;
  CHECK(room_of(1) == at_first);
  swarm.planner.on_decided(seated.id, 2);
  swarm.begin_round(state_after(swarm.run.canonical, group_id(1)));
  swarm.members.note_credit(std::vector<wire::Contribution>{{peer_id(1), 40}, {peer_id(2), 40}}, seconds(2));
  swarm.members.judge(swarm.now, swarm.run.canonical, {}, swarm.now);
  const TimePoint began = swarm.now;
  seated = swarm.planned({1, 2});
  const double longest_s = to_seconds(swarm.planner.plan()->begin_by - began) + 1;
  CHECK(room_of(1) >= 2 * 20);
  const auto believed = std::llround(2 * 20 * longest_s) + 2 * manifest.micro_batch_size;
  CHECK(room_of(1) <= std::min<SampleCount>(at_first, believed));
}

TEST_CASE("members on probation have room for a quarter of the weight together, if anybody else is there") {
  Planning swarm;
  const std::vector<int> newcomers = {4, 5, 6, 7};
  bool any_established = true;
  SUBCASE("others are there") {}
  SUBCASE("nobody else") { any_established = false; }
  const std::vector<int> there = any_established ? std::vector<int>{1, 2, 3, 4, 5, 6, 7} : newcomers;
  swarm.call_all(there);
  for (const int number : newcomers) swarm.member(number).voice = false;
  (void)swarm.planned(there);
  SampleCount together = 0;
  for (const wire::GroupMember& member : swarm.planner.plan()->groups.front().members) {
    if (!swarm.members.find(member.endpoint.peer)->voice) together += member.weight_max;
  }
  const double established = 60 * to_seconds(swarm.planner.plan()->start - swarm.run.round_began);
  if (any_established) {
    CHECK(static_cast<double>(together) <= established / 3 + 1);
    CHECK(static_cast<double>(together) > established / 3 - 6);
  } else {
    const wire::RunManifest& manifest = swarm.settings.manifest;
    CHECK(together == 4 * (4 * manifest.target_batch_size + manifest.micro_batch_size));
  }
}

TEST_CASE("what members on probation compute beyond their quarter of the weight is not expected") {
  Planning swarm;
  const std::vector<int> newcomers = {4, 5, 6, 7};
  const std::vector<int> there = {1, 2, 3, 4, 5, 6, 7};
  swarm.call_all(there);
  double counted = 60 / 0.75;  // samples a second
  SUBCASE("most are on probation") {
    for (const int number : newcomers) swarm.member(number).voice = false;
  }
  SUBCASE("few are") {
    swarm.member(7).voice = false;
    counted = 140;
  }
  SUBCASE("all are") {
    for (const int number : there) swarm.member(number).voice = false;
    counted = 140;
  }
  (void)swarm.planned(there);
  const Plan& plan = *swarm.planner.plan();
  CHECK(plan.samples_per_s == doctest::Approx(counted));
  CHECK(plan.samples == doctest::Approx(60));
  CHECK(to_seconds(plan.start - swarm.run.round_began) == doctest::Approx(60 / counted).epsilon(0.1));
}

TEST_CASE("in a grid the heads are those with the best lines that enough others have seen") {
  wire::RunManifest manifest = small_manifest();
  manifest.round.averaging.formation = wire::Formation::grid;
  manifest.round.averaging.group_size = 4;
  Planning swarm(0, manifest);
  swarm.fast_line = 1e12;  // member 1 says
  std::vector<int> numbers;
  for (int number = 1; number <= 16; ++number) numbers.push_back(number);
  swarm.call_all(numbers);
  for (const int number : numbers) swarm.member(number).speeds.seen_upload = {1e6, 1e6, 15};
  std::size_t accounts = 0;
  SUBCASE("it is new") {}
  SUBCASE("too few have seen it") { accounts = 10; }
  SUBCASE("enough have seen it") { accounts = 11; }
  swarm.member(1).speeds.seen_upload = {1e9, 1e9, accounts};
  int times = 0;
  for (int round = 0; round < 10; ++round) {
    swarm.planner.give_up(swarm.planned(numbers).id);
    for (const wire::GridPlan::Head& head : swarm.last_group.grid->heads) {
      times += head.member.endpoint.peer == peer_id(1) ? 1 : 0;
    }
  }
  CHECK(times == (accounts == 11 ? 10 : 0));
}

TEST_CASE("a member that measures the state is waited for a while, then planned as one that may come late") {
  Planning swarm;
  swarm.run.rhythm.round = seconds(1);
  const CoordinatorOptions& options = swarm.settings.options;
  swarm.call_all({1, 2, 3});
  const EvaluationTurn::Situation running{0, seconds(1), false, true, 3};
  swarm.now += options.evaluation.interval;
  const auto asked = swarm.evaluation.ask(swarm.now, {peer_id(1), 1, ""}, running, options);
  REQUIRE(asked.has_value());
  swarm.run.round = *asked;
  swarm.run.round_began = swarm.now;
  swarm.now += seconds(3);
  swarm.call_all({1, 2, 3});
  CHECK_FALSE(swarm.plan().has_value());
  CHECK(swarm.planner.phase(swarm.now) == RoundPhase::waiting);
  swarm.now = swarm.run.round_began + usual_join_grace(swarm.run.rhythm, options);
  swarm.call_all({1, 2, 3});
  const std::optional<SeatedGroup> seated = swarm.plan();
  REQUIRE(seated.has_value());
  for (const Seat& seat : seated->seats()) {
    CHECK((seat.role == wire::MemberRole::late) == (seat.peer == peer_id(1)));
  }
}

TEST_CASE("a member owns two equal parts at most until others have seen that its line carries more") {
  const std::vector<int> eight{1, 2, 3, 4, 5, 6, 7, 8};
  Planning swarm;
  swarm.fast_line = 1e9;
  CHECK(swarm.share_of_first(eight) == doctest::Approx(2.0 / 8).epsilon(0.01));
  for (const int number : eight) swarm.member(number).speeds.seen_upload = {1e6, 1e6, 7};
  swarm.member(1).speeds.seen_upload = {4e6, 4e6, 2};
  CHECK(swarm.share_of_first(eight) == doctest::Approx(2.0 / 8).epsilon(0.01));
  swarm.member(1).speeds.seen_upload = {4e6, 4e6, 7};
  CHECK(swarm.share_of_first(eight) == doctest::Approx(8.0 / 11).epsilon(0.01));
  // It says much, and others see little.
  swarm.member(1).speeds.seen_upload = {1e5, 1e5, 7};
  CHECK(swarm.share_of_first(eight) == doctest::Approx(1.0 / 8).epsilon(0.01));
}

TEST_CASE("a fast member among three, of which more are on the way, owns half of the vector at most") {
  Planning swarm;
  swarm.fast_line = 1e9;
  CHECK(swarm.share_of_first({1, 2, 3}) > 0.9);
  (void)swarm.call(4, swarm.loading());
  CHECK(swarm.share_of_first({1, 2, 3}) == doctest::Approx(0.5).epsilon(0.01));
  CHECK(swarm.last_group.members.size() == 4);
}

TEST_CASE("the one member that can be dialled carries all, and the faster one of two when others have seen its line") {
  const std::vector<int> eight{1, 2, 3, 4, 5, 6, 7, 8};
  Planning alone;
  alone.fast_line = 1e9;
  alone.blocked_from = 2;
  CHECK(alone.share_of_first(eight) == 1);
  Planning two;
  two.fast_line = 1e9;
  two.blocked_from = 3;
  CHECK(two.share_of_first(eight) == doctest::Approx(0.5).epsilon(0.01));
  for (const int number : eight)
    two.member(number).speeds.seen_upload = {number == 1 ? 1e8 : 1e6, number == 1 ? 1e8 : 1e6, 7};
  CHECK(two.share_of_first(eight) > 0.9);
}

}  // namespace starling::core::testing
