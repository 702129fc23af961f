// Members' reports about each other after a round. They report only faults that they saw themselves, so that several
// voices really are several.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "tests/client/averaging/in_memory_group.h"
#include "tests/client/averaging/round_checks.h"

using namespace starling;
using namespace starling::averaging;
using Verdict = AveragingOutcome::Verdict;
using Kind = starling::averaging::Fault::Kind;

namespace {

GroupOptions small(std::size_t members) {
  GroupOptions options;
  options.members = members;
  options.vector_floats = static_cast<std::int64_t>(members) * 240;
  options.segment_floats = 24;
  options.seed = 5;
  return options;
}

struct Voices {
  int about_victim = 0;
  int about_others = 0;
  wire::Fault fault = wire::Fault::gone;  // the victim's fault according to the last voice
};

// Voices of the members that averaged.
Voices voices(const InMemoryGroup& group, Rank victim) {
  Voices voices;
  for (Rank rank = 0; rank < group.size(); ++rank) {
    if (group.outcome(rank) == nullptr || group.outcome(rank)->verdict != Verdict::averaged) continue;
    for (const SeenFault& seen : group.outcome(rank)->faults) {
      if (seen.rank == victim) voices.fault = seen.fault;
      ++(seen.rank == victim ? voices.about_victim : voices.about_others);
    }
  }
  return voices;
}

// The others tell of the liar's nonsense and of nobody else, and their mean has nothing of it.
void check_left_out_by_all(InMemoryGroup& group, Rank liar) {
  const Voices said = voices(group, liar);
  CHECK(said.about_victim >= 2);
  CHECK(said.about_others == 0);
  CHECK(said.fault == wire::Fault::nonsense);
  for (Rank rank = 0; rank < group.size(); ++rank) {
    if (rank == liar) continue;
    CHECK(group.outcome(rank)->verdict == Verdict::averaged);
    CHECK(group.outcome(rank)->samples[liar] == 0);
    CHECK(untruth(group, rank) == "");
  }
}

}  // namespace

TEST_CASE("a round without faults leaves no complaint") {
  InMemoryGroup group(small(5));
  group.run();
  CHECK(voices(group, 0).about_victim + voices(group, 0).about_others == 0);
}

TEST_CASE("of a member that dies, or falls silent, most others can tell themselves") {
  for (const Kind kind : {Kind::kill, Kind::freeze}) {
    for (Rank victim = 0; victim < 6; ++victim) {
      CAPTURE(static_cast<int>(kind));
      CAPTURE(victim);
      InMemoryGroup group(small(6), {{.kind = kind, .rank = victim, .event = 60, .lasting = std::chrono::minutes(5)}});
      group.run(std::chrono::seconds(20));
      const Voices said = voices(group, victim);
      CHECK(said.about_victim >= 3);
      CHECK(said.about_others == 0);
      CHECK(said.fault == (kind == Kind::kill ? wire::Fault::gone : wire::Fault::silent));
    }
  }
}

TEST_CASE("when two lose each other, only one of them says so, and nobody repeats it") {
  for (std::size_t event = 0; event < 200; event += 7) {
    CAPTURE(event);
    const Rank a = event % 5;
    const Rank b = (a + 1 + event / 5 % 4) % 5;
    InMemoryGroup group(small(5), {{.kind = Kind::black_hole, .rank = a, .other = b, .event = event}});
    group.run();
    CHECK(voices(group, a).about_victim + voices(group, a).about_others <= 1);
  }
}

TEST_CASE("who sends no numbers is told apart from who is gone") {
  InMemoryGroup group(small(5));
  group.set_tamper([](Rank from, Rank, std::vector<std::uint8_t>& frame) {
    if (from != 3 || frame[0] != static_cast<std::uint8_t>(wire::FrameType::contribution)) return true;
    const float nan = std::numeric_limits<float>::quiet_NaN();
    std::memcpy(frame.data() + wire::kFrameHeaderBytes, &nan, sizeof nan);
    return true;
  });
  group.run();
  const Voices said = voices(group, 3);
  CHECK(said.about_victim >= 2);
  CHECK(said.about_others == 0);
  CHECK(said.fault == wire::Fault::nonsense);
  for (const Rank rank : {0, 1, 2, 4}) {
    CHECK(group.outcome(rank)->verdict == Verdict::averaged);
    CHECK(untruth(group, rank) == "");
  }
}

TEST_CASE("who claims more samples than anybody can have is left out by all, who tell of it") {
  for (Rank liar = 0; liar < 5; ++liar) {
    CAPTURE(liar);
    GroupOptions options = small(5);
    options.weights = {1, 2, 3, 4, 5};
    options.weights[liar] = 101;
    options.engine.weight_max = 100;
    InMemoryGroup group(options);
    group.run();
    check_left_out_by_all(group, liar);
  }
}

TEST_CASE("who brings more than its plan has room for is left out by all, whether or not it has links with all") {
  for (const bool dialable : {true, false}) {
    CAPTURE(dialable);
    constexpr Rank kLiar = 4;
    GroupOptions options = small(5);
    options.weights = {1, 2, 3, 4, 11};
    options.room = {1, 2, 3, 0, 10};  // room for all of it is enough; 0: no limit
    if (!dialable) options.undialable = {false, false, false, true, true};
    InMemoryGroup group(options);
    group.run();
    check_left_out_by_all(group, kLiar);
  }
}

TEST_CASE("all owners tell of a sender that they left behind") {
  GroupOptions options = small(5);
  options.shares = {1, 1, 1, 1, 0};
  options.member_slowdown = {1, 1, 1, 1, 50000};
  options.begin_within_ms = 2000;
  InMemoryGroup group(options);
  group.run();
  const Voices said = voices(group, 4);
  CHECK(said.about_victim == 4);
  CHECK(said.about_others == 0);
  CHECK(said.fault == wire::Fault::slow);
}
