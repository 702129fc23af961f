// Members that die, freeze, lose links or lie, at every moment of small rounds.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>

#include "tests/client/averaging/in_memory_group.h"
#include "tests/client/averaging/round_checks.h"

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

// Everybody alive finished, in time, all alike, and as a majority exactly where it is one.
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
      if (group.alive(lost.rank)) return fmt::format("{} lost {}, which is alive: {}", rank, lost.rank, lost.reason);
    }
  }
  if (group.elapsed() > time_max) return fmt::format("took {:.3f} s", to_seconds(group.elapsed()));
  return {};
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
            // Nothing but links and the courtesy delay decides: far below any silence limit.
            const std::string why = crash_check(group, from_ms(1000));
            CHECK(why == "");
          }
        }
      }
    }
  }
}
