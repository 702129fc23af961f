// Members that die, freeze, lose links or lie, at every moment of small rounds.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "tests/client/averaging/in_memory_group.h"
#include "tests/client/averaging/round_checks.h"
#include "tests/support/suite_form.h"

using namespace starling;
using namespace starling::averaging;
using Verdict = AveragingOutcome::Verdict;
using Kind = Fault::Kind;

namespace {

// Three segments a part: enough for senders and owners to die in the middle.
GroupOptions small(std::size_t members, unsigned seed) {
  GroupOptions options;
  options.members = members;
  options.vector_floats = static_cast<std::int64_t>(members) * 30;
  options.segment_floats = 12;
  options.seed = seed;
  return options;
}

double tolerance(const InMemoryGroup& group) { return group.group().codec == "fp16" ? 1e-3 : 1e-5; }

std::size_t events_without_fault(const GroupOptions& options) {
  InMemoryGroup group(options);
  group.run();
  REQUIRE(wrong(group, tolerance(group)) == "");
  return group.events();
}

// Runs the group. Everybody alive must finish in time, all alike, and with a majority's verdict exactly where it is
// one.
std::string crash_check(InMemoryGroup& group, Duration time_max) {
  group.run();
  if (std::string why = wrong(group, tolerance(group)); !why.empty()) return why;
  for (Rank rank = 0; rank < group.size(); ++rank) {
    if (!group.alive(rank)) continue;
    const Verdict verdict = group.outcome(rank)->verdict;
    if (verdict != Verdict::averaged && verdict != Verdict::minority) return fmt::format("{} did not finish", rank);
    const bool majority = (group.size() - group.outcome(rank)->lost.size()) * 2 > group.size();
    if (majority != (verdict == Verdict::averaged)) return fmt::format("{} has the wrong verdict", rank);
    for (const LostMember& lost : group.outcome(rank)->lost) {
      if (group.alive(lost.rank) && !group.has_unlinked())
        return fmt::format("{} lost {}, which is alive: {}", rank, lost.rank, lost.reason);
    }
  }
  if (group.elapsed() > time_max) return fmt::format("took {:.3f} s", to_seconds(group.elapsed()));
  return {};
}

std::vector<double> slow_where(const std::vector<bool>& deferred) {
  std::vector<double> slowdown;
  for (const bool slow : deferred) slowdown.push_back(slow ? 30 : 1);
  return slowdown;
}

}  // namespace

TEST_CASE("a member may die at any event: survivors finish, alike and truthful") {
  for (const std::size_t members : {2, 3, 4, 5}) {
    for (const char* codec : {"fp32", "fp16"}) {
      GroupOptions options = small(members, 40 + static_cast<unsigned>(members));
      options.codec = codec;
      const std::size_t events = events_without_fault(options);
      for (Rank victim = 0; victim < members; ++victim) {
        for (std::size_t event = 0; event < events; ++event) {
          for (const Kind kind : {Kind::kill, Kind::kill_dirty}) {
            CAPTURE(members);
            CAPTURE(codec);
            CAPTURE(victim);
            CAPTURE(event);
            CAPTURE(kind == Kind::kill_dirty);
            InMemoryGroup group(options, {{.kind = kind, .rank = victim, .event = event}});
            // Only links and yield_delay decide here, so the time is far below any silence limit.
            const std::string why = crash_check(group, from_ms(1000));
            CHECK(why == "");
          }
        }
      }
    }
  }
}

TEST_CASE("whoever dies while a deferred member still takes results, it ends like the others or with them") {
  GroupOptions options = small(4, 11);
  options.deferred = {false, true, false, false};
  options.member_slowdown = {1, 30, 1, 1};
  const std::size_t events = events_without_fault(options);
  for (Rank victim = 0; victim < options.members; ++victim) {
    for (std::size_t event = 0; event < events; ++event) {
      for (const Kind kind : {Kind::kill, Kind::kill_dirty}) {
        CAPTURE(victim);
        CAPTURE(event);
        InMemoryGroup group(options, {{.kind = kind, .rank = victim, .event = event}});
        CHECK(crash_check(group, from_ms(1500)) == "");
      }
    }
  }
}

TEST_CASE("two or three members may die at any events, in any order") {
  std::vector<unsigned> seeds(starling::testing::times(2000U, 12000U));
  std::iota(seeds.begin(), seeds.end(), 1U);
  // Regression: members without a link to it waited for ever for one that was done and gone.
  seeds.insert(seeds.end(), {69862U, 76217U, 97107U});
  for (const unsigned seed : seeds) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    GroupOptions options = small(3 + random() % 4, 7);
    if (random() % 2 == 0) options.weights = {0, 3, 1, 0, 5, 2};
    if (random() % 2 == 0) options.undialable = {false, true, false, true, false, true};
    options.weights.resize(options.weights.empty() ? 0 : options.members);
    options.undialable.resize(options.undialable.empty() ? 0 : options.members);
    if (random() % 4 == 0) options.codec = "fp16";
    if (seed % 3 == 0) {
      options.deferred.resize(options.members);
      options.deferred[seed / 3 % options.members] = true;
      if (options.members > 4 && seed % 5 == 0) options.deferred[(seed / 3 + 1) % options.members] = true;
      if (seed % 2 == 0) options.member_slowdown = slow_where(options.deferred);
    }
    std::vector<Fault> faults;
    for (std::size_t i = 0; i < 2 + random() % 2; ++i) {
      const Kind kind = random() % 2 == 0 ? Kind::kill : Kind::kill_dirty;
      // Deaths come in clusters: the second one usually strikes while the first is still being handled.
      const std::size_t event = i == 0 || random() % 4 == 0 ? random() % 250 : faults[0].event + random() % 60;
      faults.push_back({.kind = kind, .rank = random() % options.members, .event = event});
    }
    InMemoryGroup group(options, faults);
    const std::string why = crash_check(group, from_ms(1500));
    CHECK(why == "");
  }
}

TEST_CASE("a member that stands still is left out in seconds, and learns of it when it wakes") {
  for (const std::size_t members : {2, 3, 5}) {
    const GroupOptions options = small(members, 3);
    const std::size_t events = events_without_fault(options);
    for (std::size_t event = 0; event < events; event += 3) {
      for (Rank victim = 0; victim < members; ++victim) {
        CAPTURE(members);
        CAPTURE(event);
        CAPTURE(victim);
        InMemoryGroup group(options,
                            {{.kind = Kind::freeze, .rank = victim, .event = event, .lasting = from_ms(60000)}});
        group.run(from_ms(4000));
        std::size_t averaged = 0;
        for (Rank rank = 0; rank < members; ++rank) {
          if (rank != victim) REQUIRE(group.outcome(rank) != nullptr);
        }
        group.run();
        CHECK(disagreement(group) == "");
        for (Rank rank = 0; rank < members; ++rank) {
          REQUIRE(group.outcome(rank) != nullptr);
          averaged += group.outcome(rank)->verdict == Verdict::averaged ? 1 : 0;
          if (rank == victim && group.outcome(rank)->verdict != Verdict::averaged) {
            CHECK(group.outcome(rank)->verdict == Verdict::expelled);
          }
        }
        CHECK(averaged >= (members == 2 ? 0 : members - 1));
      }
    }
  }
}

TEST_CASE("a pause shorter than the silence limit costs nobody anything") {
  GroupOptions options = small(4, 3);
  options.begin_within_ms = 3000;
  const std::size_t events = events_without_fault(options);
  for (std::size_t event = 0; event < events; event += 2) {
    CAPTURE(event);
    InMemoryGroup group(options, {{.kind = Kind::freeze, .rank = 2, .event = event, .lasting = from_ms(1500)}});
    group.run();
    CHECK(wrong(group) == "");
    for (Rank rank = 0; rank < 4; ++rank) CHECK(group.outcome(rank)->verdict == Verdict::averaged);
  }
}

TEST_CASE("two members that lose each other cost the group one of them") {
  for (const Kind kind : {Kind::break_link, Kind::black_hole, Kind::mute}) {
    const GroupOptions options = small(5, 8);
    const std::size_t events = events_without_fault(options);
    for (std::size_t event = 0; event < events; ++event) {
      CAPTURE(static_cast<int>(kind));
      CAPTURE(event);
      const Rank a = event % 5;
      const Rank b = (event + 1 + event / 5 % 4) % 5;
      InMemoryGroup group(options, {{.kind = kind, .rank = a, .other = b, .event = event}});
      group.run();
      CHECK(wrong(group) == "");
      std::size_t averaged = 0;
      for (Rank rank = 0; rank < 5; ++rank) {
        if (group.outcome(rank)->verdict == Verdict::averaged) ++averaged;
      }
      CHECK(averaged >= 4);
      CHECK(group.elapsed() < from_ms(4000));
    }
  }
}

TEST_CASE("a member that hears nobody, or that nobody hears, costs the group only itself") {
  for (const std::size_t members : {3, 4, 5, 8}) {
    for (const bool deaf : {true, false}) {
      const GroupOptions options = small(members, 12);
      const std::size_t events = events_without_fault(options);
      for (std::size_t event = 0; event < events; event += 3) {
        CAPTURE(members);
        CAPTURE(deaf);
        CAPTURE(event);
        const Rank victim = event % members;
        std::vector<Fault> faults;
        for (Rank other = 0; other < members; ++other) {
          const Fault fault = {.kind = Kind::mute, .rank = deaf ? other : victim, .other = deaf ? victim : other};
          if (other != victim) faults.push_back(fault);
        }
        for (Fault& fault : faults) fault.event = event;
        InMemoryGroup group(options, faults);
        group.run();
        const AveragingOutcome& agreed = *group.outcome(victim == 0 ? 1 : 0);
        for (Rank rank = 0; rank < members; ++rank) {
          CAPTURE(rank);
          const AveragingOutcome& outcome = *group.outcome(rank);
          if (rank != victim) CHECK(outcome.verdict == Verdict::averaged);
          if (outcome.verdict == Verdict::averaged) CHECK(outcome.result_digest == agreed.result_digest);
          if (outcome.verdict != Verdict::expelled) CHECK(untruth(group, rank) == "");
        }
        CHECK(group.elapsed() < from_ms(8000));
      }
    }
  }
}

TEST_CASE("of a group cut in two, at most the larger half ends with an average that counts") {
  for (const std::size_t members : {2, 3, 4, 5, 6, 7}) {
    for (std::size_t split = 1; split < members; ++split) {
      for (const bool one_way : {false, true}) {
        const GroupOptions options = small(members, 11);
        const std::size_t events = events_without_fault(options);
        for (std::size_t event = 0; event < events; event += 7) {
          CAPTURE(members);
          CAPTURE(split);
          CAPTURE(one_way);
          CAPTURE(event);
          std::vector<Fault> faults;
          for (Rank a = 0; a < split; ++a) {
            for (Rank b = split; b < members; ++b) {
              faults.push_back(
                  {.kind = one_way ? Kind::mute : Kind::black_hole, .rank = a, .other = b, .event = event});
            }
          }
          InMemoryGroup group(options, faults);
          group.run();
          std::vector<Rank> averaged;
          for (Rank rank = 0; rank < members; ++rank) {
            REQUIRE(group.outcome(rank) != nullptr);
            if (group.outcome(rank)->verdict == Verdict::averaged) averaged.push_back(rank);
            if (group.outcome(rank)->verdict != Verdict::expelled) CHECK(untruth(group, rank) == "");
          }
          for (const Rank rank : averaged) {
            CHECK(group.outcome(rank)->result_digest == group.outcome(averaged.front())->result_digest);
          }
          CHECK(group.elapsed() < from_ms(15000));
        }
      }
    }
  }
}

TEST_CASE("a member that never begins is left out when its time is up") {
  GroupOptions options = small(4, 5);
  options.begin_within_ms = 700;
  options.start_after = {{}, {}, {}, std::chrono::hours(1)};
  InMemoryGroup group(options);
  group.run(std::chrono::seconds(3));
  for (Rank rank = 0; rank < 3; ++rank) {
    REQUIRE(group.outcome(rank) != nullptr);
    CHECK(group.outcome(rank)->verdict == Verdict::averaged);
    REQUIRE(group.outcome(rank)->lost.size() == 1);
    CHECK(group.outcome(rank)->lost[0].rank == 3);
    CHECK(group.outcome(rank)->samples[3] == 0);
    CHECK(to_ms(group.outcome(rank)->elapsed) < 900);
  }
  CHECK(disagreement(group) == "");
}

TEST_CASE("a member that lives but withholds something is not waited for past a limit") {
  struct Case {
    wire::FrameType withheld;
    Duration time_max;
    bool lost;
  };
  const Case cases[] = {
      {wire::FrameType::contribution, from_ms(6000), false},  // left behind, but keeps its place
      {wire::FrameType::result, from_ms(35000), true},
      {wire::FrameType::inventory, from_ms(12000), true},
      {wire::FrameType::done, from_ms(65000), true},
  };
  for (const Case& withholding : cases) {
    for (Rank villain = 0; villain < 5; ++villain) {
      CAPTURE(static_cast<int>(withholding.withheld));
      CAPTURE(villain);
      const Rank victim = (villain + 2) % 5;
      std::vector<Fault> faults;
      if (withholding.withheld == wire::FrameType::inventory) {
        faults.push_back({.kind = Kind::kill, .rank = victim, .event = 40});
      }
      InMemoryGroup group(small(5, 17), faults);
      group.set_tamper([&](Rank from, Rank, const std::vector<std::uint8_t>& frame) {
        return from != villain || frame[0] != static_cast<std::uint8_t>(withholding.withheld);
      });
      group.run();
      CHECK(group.elapsed() < withholding.time_max);
      for (Rank rank = 0; rank < 5; ++rank) {
        if (rank == villain || !group.alive(rank)) continue;
        REQUIRE(group.outcome(rank) != nullptr);
        CHECK(group.outcome(rank)->verdict == Verdict::averaged);
        CHECK(untruth(group, rank) == "");
        const auto& lost = group.outcome(rank)->lost;
        const bool lost_villain = std::any_of(lost.begin(), lost.end(), [&](auto& l) { return l.rank == villain; });
        CHECK(lost_villain == withholding.lost);
      }
      // The others let it have the result all the same, where they are most of the group.
      if (withholding.withheld != wire::FrameType::inventory) {
        CHECK(group.outcome(villain)->verdict == Verdict::averaged);
        CHECK(group.outcome(villain)->result_digest == group.outcome(victim)->result_digest);
      }
    }
  }
}

TEST_CASE("any storm of faults ends without a wrong success") {
  for (unsigned seed = 1; seed <= starling::testing::times(1000U, 6000U); ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    GroupOptions options = small(2 + random() % 7, seed);
    options.vector_floats = 1 + random() % 300;
    if (options.vector_floats < 50) options.engine.norm_ratio_max = 0;  // norms of fewer values differ too much
    if (random() % 3 == 0) {
      for (std::size_t i = 0; i < options.members; ++i) options.undialable.push_back(i > 0 && random() % 3 == 0);
    }
    for (std::size_t i = 0; i < options.members; ++i) {
      options.start_after.push_back(from_ms(random() % 3 == 0 ? random() % 2400 : 0));
    }
    if (random() % 4 == 0) {
      for (std::size_t i = 0; i < options.members; ++i) options.late.push_back(i > 0 && random() % 3 == 0);
    }
    std::vector<Fault> faults;
    const std::size_t count = 1 + random() % 5;
    for (std::size_t i = 0; i < count; ++i) {
      Fault fault;
      fault.kind = static_cast<Kind>(random() % 6);
      fault.rank = random() % options.members;
      fault.other = (fault.rank + 1 + random() % (options.members - 1)) % options.members;
      fault.event = random() % 500;
      fault.lasting = from_ms(random() % 5000);
      faults.push_back(fault);
    }
    InMemoryGroup group(options, faults);
    group.run();
    Hash128 digest;
    for (Rank rank = 0; rank < group.size(); ++rank) {
      if (group.alive(rank)) REQUIRE_MESSAGE(group.outcome(rank) != nullptr, "member " << rank << " never ended");
      if (group.outcome(rank) == nullptr) continue;
      CHECK(group.outcome(rank)->verdict != Verdict::diverged);
      // In a remnant nobody may know the weight of a lost contributor: its samples count as none there.
      if (group.outcome(rank)->verdict == Verdict::minority) CHECK(untrue_values(group, rank) == "");
      if (group.outcome(rank)->verdict != Verdict::averaged) continue;
      CHECK(untruth(group, rank) == "");
      if (!digest.is_zero()) CHECK(group.outcome(rank)->result_digest == digest);
      digest = group.outcome(rank)->result_digest;
    }
    CHECK(group.elapsed() < from_ms(120000));
    CHECK(fmt::format("{}", fmt::join(group.refusals(), ", ")) == "");
  }
}
