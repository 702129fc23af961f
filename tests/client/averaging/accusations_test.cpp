// Members that one account alone has lost: the others hear them well, and go on without the one that does not.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "client/averaging/lost_sets.h"
#include "shared/swarm/plan.h"
#include "tests/client/averaging/in_memory_group.h"
#include "tests/client/averaging/round_checks.h"
#include "tests/client/averaging/round_parts.h"
#include "tests/support/plain_signer.h"

using namespace starling;
using namespace starling::averaging;
using namespace std::chrono_literals;
using Verdict = AveragingOutcome::Verdict;
using Kind = averaging::Fault::Kind;

namespace {

constexpr SampleCount kSamples = 1000;  // each

GroupOptions small(std::size_t members) {
  GroupOptions options;
  options.members = members;
  options.vector_floats = static_cast<std::int64_t>(members) * 30;
  options.segment_floats = 12;
  options.weights.assign(members, kSamples);
  options.seed = 19;
  return options;
}

std::size_t events_of(const GroupOptions& options) {
  InMemoryGroup group(options);
  group.run();
  return group.events();
}

bool lost(const InMemoryGroup& group, Rank by, Rank rank) {
  const std::vector<LostMember>& members = group.outcome(by)->lost;
  return std::any_of(members.begin(), members.end(), [rank](const LostMember& member) { return member.rank == rank; });
}

// Everybody but the accuser has kept the accused, and the accuser has the result as well.
void check_kept(InMemoryGroup& group, Rank accuser, Rank accused) {
  group.run();
  CHECK(wrong(group) == "");
  CHECK(group.elapsed() < 3s);
  for (Rank rank = 0; rank < group.size(); ++rank) {
    CAPTURE(rank);
    CHECK(group.outcome(rank)->verdict == Verdict::averaged);
    // Only the accuser's own part may be without it.
    const auto own = kSamples * group.group().members[accuser].part_floats / group.group().vector_floats;
    CHECK(group.outcome(rank)->samples[accused] >= kSamples - own - 1);
  }
}

// The accuser says, with its signature and to one member alone, that it has lost another, and goes on as before.
void whisper(InMemoryGroup& group, Rank accuser, Rank accused, Rank confidant) {
  wire::LostSet said{static_cast<std::uint32_t>(accuser), swarm::plan_digest(group.group()),
                     wire::RankSet(group.size())};
  said.lost.set(accused);
  const auto signer = testing::plain_signer(group.group().members[accuser].endpoint.peer);
  said.signature = signer->sign(wire::signed_text(said));
  const std::vector<std::uint8_t> payload = wire::encode(said);
  wire::FrameHeader header;
  header.type = wire::FrameType::lost_set;
  header.group = group.group().id;
  header.payload_bytes = static_cast<std::uint32_t>(payload.size());
  std::vector<std::uint8_t> frame(wire::kFrameHeaderBytes);
  wire::encode_header(header, std::span(frame).first<wire::kFrameHeaderBytes>());
  frame.insert(frame.end(), payload.begin(), payload.end());
  group.inject(accuser, confidant, std::move(frame));
}

// The signed words of the members of a group about each other.
struct Words : RoundParts {
  explicit Words(wire::GroupInfo plan) : RoundParts(std::move(plan), 0) {}

  bool accuse(Rank accuser, Rank accused, TimePoint now = TimePoint{}) {
    return sets.take(now, lost_set(accuser, {accused})).value();
  }
  bool judge(Rank judge, Rank accuser) { return sets.take(TimePoint{}, lost_set(judge, {accuser}, {accuser})).value(); }
};

// Plays the round to its end: all members from rank `first` on have its result, and have lost none from `honest` on.
void check_ends_well(InMemoryGroup& group, Rank first, Rank honest) {
  group.run();
  CHECK(wrong(group) == "");
  for (Rank rank = first; rank < group.size(); ++rank) {
    CAPTURE(rank);
    CHECK(group.outcome(rank)->verdict == Verdict::averaged);
    for (Rank other = honest; other < group.size(); ++other) CHECK_FALSE(lost(group, rank, other));
  }
}

}  // namespace

TEST_CASE("whom one alone has lost stays, and who has lost it gets the result late") {
  for (const std::size_t members : {3, 4, 6}) {
    const std::size_t events = events_of(small(members));
    for (std::size_t event = 1; event < events; event += 13) {
      CAPTURE(members);
      CAPTURE(event);
      const Rank liar = event % members;
      const Rank victim = (liar + 1 + event / members % (members - 1)) % members;
      InMemoryGroup group(small(members), {{.kind = Kind::denounce, .rank = liar, .other = victim, .event = event}});
      check_kept(group, liar, victim);
    }
  }
}

TEST_CASE("who answers an accusation keeps the group waiting for a moment only") {
  for (const std::size_t members : {4, 5, 8}) {
    CAPTURE(members);
    InMemoryGroup calm(small(members));
    calm.run();
    InMemoryGroup group(small(members), {{.kind = Kind::denounce, .rank = 0, .other = 2, .event = 20}});
    check_kept(group, 0, 2);
    for (Rank rank = 1; rank < members; ++rank) {
      CAPTURE(rank);
      CHECK(lost(group, rank, 0));
      CHECK(group.outcome(rank)->elapsed < calm.outcome(rank)->elapsed + 800ms);
    }
  }
}

TEST_CASE("an accusation that only one member gets to hear is passed on") {
  for (Rank victim = 1; victim < 5; ++victim) {
    for (Rank confidant = 1; confidant < 5; ++confidant) {
      CAPTURE(victim);
      CAPTURE(confidant);
      InMemoryGroup group(small(5), {{.kind = Kind::denounce, .rank = 0, .other = victim, .event = 20}});
      group.set_tamper([confidant](Rank from, Rank to, const std::vector<std::uint8_t>& frame) {
        return from != 0 || to == confidant || frame[0] != static_cast<std::uint8_t>(wire::FrameType::inventory);
      });
      check_kept(group, 0, victim);
    }
  }
}

TEST_CASE(
    "an accusation that only one member hears costs nobody but the accuser, who goes on as if it had said nothing") {
  for (const std::size_t members : {4, 5, 8}) {
    const std::size_t events = events_of(small(members));
    for (std::size_t event = 8; event < events; event += 1 + events / 24) {
      const Rank confidant = 1 + event % (members - 1);
      const Rank victim = 1 + confidant % (members - 1);
      CAPTURE(members);
      CAPTURE(event);
      CAPTURE(confidant);
      InMemoryGroup group(small(members));
      for (std::size_t i = 0; i < event; ++i) group.step();
      whisper(group, 0, victim, confidant);
      check_ends_well(group, 0, 1);
    }
  }
}

TEST_CASE("an accusation that two whisper to the same member costs nobody but these two") {
  for (const std::size_t members : {5, 6, 9}) {
    const std::size_t events = events_of(small(members));
    for (std::size_t event = 8; event < events; event += 1 + events / 24) {
      const Rank confidant = 2 + event % (members - 2);
      const Rank victim = 2 + (confidant - 1) % (members - 2);
      CAPTURE(members);
      CAPTURE(event);
      CAPTURE(confidant);
      InMemoryGroup group(small(members));
      for (std::size_t i = 0; i < event; ++i) group.step();
      whisper(group, 0, victim, confidant);
      for (std::size_t i = 0; i < event % 7; ++i) group.step();
      whisper(group, 1, victim, confidant);
      check_ends_well(group, 2, 2);
    }
  }
}

TEST_CASE("an accusation that only one member hears, and finds to be right, leaves one result or none") {
  for (const std::size_t members : {4, 5, 8}) {
    for (int at = 20; at < 900; at += 40) {
      const auto place = static_cast<std::size_t>(at / 40);
      const Rank confidant = 1 + place % (members - 1);
      const Rank victim = 1 + confidant % (members - 1);
      CAPTURE(members);
      CAPTURE(at);
      CAPTURE(confidant);
      // The confidant hears nothing from the accused for a while, which nobody else notices.
      GroupOptions options = small(members);
      options.begin_within_ms = 10'000;
      options.vector_floats *= 10;  // the round takes long enough for that
      options.bytes_per_s = 2e3;
      InMemoryGroup group(options, {{.kind = Kind::mute, .rank = victim, .other = confidant, .at = from_ms(at)}});
      while (group.elapsed() < from_ms(at) + 1200ms && group.step()) {
      }
      whisper(group, 0, victim, confidant);
      group.run();
      CHECK(wrong(group) == "");
      // Two of four are half of the group: then nobody's result counts.
      const auto counts = [&group](Rank rank) { return group.outcome(rank)->verdict == Verdict::averaged; };
      for (Rank rank = 1; rank < members; ++rank) {
        CAPTURE(rank);
        CHECK(counts(rank) == counts(1));
        if (members == 4) continue;
        CHECK(counts(rank));
        for (Rank honest = 1; honest < members; ++honest) {
          const bool of_the_link = honest == victim || honest == confidant;
          if (!of_the_link) CHECK_FALSE(lost(group, rank, honest));
        }
      }
    }
  }
}

TEST_CASE("who cannot tell waits for those who have a link to the accused") {
  GroupOptions options = small(6);
  options.undialable = {false, false, false, true, true, true};
  for (Rank liar = 0; liar < 6; ++liar) {
    CAPTURE(liar);
    const Rank victim = liar == 5 ? 2 : 5;
    InMemoryGroup group(options, {{.kind = Kind::denounce, .rank = liar, .other = victim, .event = 30}});
    check_kept(group, liar, victim);
  }
}

TEST_CASE("who has begun with others and not here is given up a second after they have lost it") {
  GroupOptions options = small(3);
  options.begin_within_ms = 60'000;
  InMemoryGroup group(options, {{.kind = Kind::freeze, .rank = 2, .at = 300ms, .lasting = 5min}});
  group.set_tamper([](Rank from, Rank to, const std::vector<std::uint8_t>&) { return from != 2 || to != 1; });
  group.run(20s);
  CHECK(disagreement(group) == "");
  for (const Rank rank : {0, 1}) {
    CAPTURE(rank);
    REQUIRE(group.outcome(rank) != nullptr);
    CHECK(group.outcome(rank)->verdict == Verdict::averaged);
    CHECK(group.outcome(rank)->elapsed < 4s);
    CHECK(lost(group, rank, 2));
    CHECK(group.outcome(rank)->accusations.empty());
    CHECK(untruth(group, rank) == "");
  }
}

TEST_CASE("who is accused does not accuse the one that says so and sends it nothing") {
  GroupOptions options = small(6);
  options.begin_within_ms = 600;
  InMemoryGroup group(options, {{.kind = Kind::denounce, .rank = 5, .other = 0, .event = 6},
                                {.kind = Kind::denounce, .rank = 4, .other = 5, .event = 6}});
  group.set_tamper([](Rank from, Rank to, const std::vector<std::uint8_t>&) { return from != 5 || to != 0; });
  group.run();
  CHECK(wrong(group) == "");
  for (Rank rank = 0; rank < 4; ++rank) {
    CAPTURE(rank);
    CHECK(group.outcome(rank)->verdict == Verdict::averaged);
    CHECK(lost(group, rank, 5));
    CHECK_FALSE(lost(group, rank, 0));
    CHECK(group.outcome(rank)->samples[0] == kSamples);
  }
}

TEST_CASE("several that each lose somebody well cost only themselves") {
  const std::size_t events = events_of(small(9));
  for (std::size_t event = 9; event < events; event += 31) {
    CAPTURE(event);
    const auto denounces = [event](Rank rank, Rank other, std::size_t later) {
      return averaging::Fault{.kind = Kind::denounce, .rank = rank, .other = other, .event = event + later};
    };
    InMemoryGroup group(small(9), {denounces(6, 0, 0), denounces(7, 0, 3), denounces(8, 3, 5)});
    group.run();
    CHECK(wrong(group) == "");
    for (Rank rank = 0; rank < 6; ++rank) {
      CAPTURE(rank);
      CHECK(group.outcome(rank)->verdict == Verdict::averaged);
      for (Rank honest = 0; honest < 6; ++honest) CHECK_FALSE(lost(group, rank, honest));
    }
  }
}

TEST_CASE("half of the accounts are believed, fewer cost only themselves") {
  for (const bool enough : {false, true}) {
    CAPTURE(enough);
    const std::size_t members = enough ? 4 : 5;
    const auto denounces = [](Rank rank) {
      return averaging::Fault{.kind = Kind::denounce, .rank = rank, .other = 3, .event = 20};
    };
    InMemoryGroup group(small(members), {denounces(0), denounces(1)});
    group.run();
    CHECK(wrong(group) == "");
    for (Rank rank = 2; rank < members; ++rank) {
      CHECK(group.outcome(rank)->verdict == Verdict::averaged);
      if (rank != 3) CHECK(lost(group, rank, 3) == enough);
      if (rank != 3) CHECK(lost(group, rank, 0) == !enough);
    }
  }
}

TEST_CASE("of two that lose each other, all others know which one goes, and it gets the result") {
  for (Rank other = 1; other < 5; ++other) {
    CAPTURE(other);
    InMemoryGroup group(small(5), {{.kind = Kind::black_hole, .rank = 0, .other = other, .event = 20}});
    group.run();
    CHECK(wrong(group) == "");
    for (Rank rank = 1; rank < 5; ++rank) {
      CHECK(group.outcome(rank)->verdict == Verdict::averaged);
      CHECK(lost(group, rank, 0));
      CHECK(group.outcome(rank)->lost.size() == 1);
    }
  }
}

TEST_CASE("the computers of one account have one voice about others") {
  wire::GroupInfo plan = plain_group(6, 8);
  for (Rank rank = 0; rank < 6; ++rank) plan.members[rank].voter = rank < 3 ? 1 : static_cast<std::uint32_t>(rank);
  Words words(plan);  // four accounts, the first of them with three computers
  for (const Rank host : {1, 2}) CHECK(words.accuse(host, 5));
  CHECK_FALSE(words.accuse(2, 5));  // it has said so
  CHECK_FALSE(words.sets.believed(5));
  CHECK(words.sets.accusers(5) == std::vector<Rank>{1, 2});
  CHECK(words.accuse(3, 5));
  CHECK_FALSE(words.sets.believed(5));
  CHECK(words.accuse(4, 5));
  CHECK(words.sets.believed(5));
}

TEST_CASE("who is lost for what it says of others is accused only once that is decided") {
  Words words(plain_group(6, 8));
  CHECK(words.accuse(1, 2));
  CHECK(words.judge(3, 1));
  CHECK(words.sets.follows(3, 1));
  CHECK(words.sets.accusers(1).empty());
  CHECK(words.sets.at_odds_since(3) == kNever);
  CHECK(words.sets.at_odds_since(1) == TimePoint{});
  CHECK_FALSE(words.sets.believed(1));
  CHECK(words.accuse(1, 3));  // which 1 may answer as it likes
  CHECK(words.sets.accusers(3) == std::vector<Rank>{1});
  words.roster.lose(2);
  words.roster.lose(3);
  CHECK(words.judge(4, 1));  // 1 was right in both
  words.sets.note_accused(TimePoint{} + 5s);
  CHECK_FALSE(words.sets.follows(4, 1));
  CHECK(words.sets.accusers(1) == std::vector<Rank>{4});
  CHECK(words.judge(5, 1));
  CHECK(words.sets.believed(1));  // three of its votes, one of them of a lost member
}

TEST_CASE("a judgement on one that accuses nobody is an accusation") {
  Words words(plain_group(6, 8));
  CHECK(words.judge(3, 4));
  CHECK_FALSE(words.sets.follows(3, 4));
  CHECK(words.sets.accusers(4) == std::vector<Rank>{3});
}

TEST_CASE("who has lost a member that others have lost as well is not at odds with them") {
  Words words(plain_group(5, 8));
  words.roster.lose(4);
  words.sets.sign_own(TimePoint{});
  CHECK(words.sets.at_odds_since(0) == TimePoint{});
  for (const Rank rank : {1, 2}) CHECK_FALSE(words.accuse(rank, 4));  // that is no news, but a vote
  CHECK(words.sets.believed(4));
  CHECK(words.sets.at_odds_since(0) == kNever);
}

TEST_CASE("nobody is at odds who has given up a member that others still wait for") {
  Words words(plain_group(5, 8));
  CHECK(words.accuse(1, 4));
  words.sets.set_undecided(4, TimePoint{} + 2s);
  CHECK(words.sets.at_odds_since(1) == TimePoint{} + 2s);
  words.roster.lose(4);
  CHECK(words.sets.at_odds_since(1) == kNever);
}

TEST_CASE("those without a link to a member do not count when it is accused") {
  wire::GroupInfo plan = plain_group(6, 8);
  for (const Rank rank : {3, 4, 5}) plan.members[rank].endpoint = {plan.members[rank].endpoint.peer, "", 0};
  for (const Rank rank : {3, 4, 5}) plan.members[rank].part_floats = 0;
  Words words(plan);
  CHECK(words.accuse(1, 5));
  CHECK_FALSE(words.sets.believed(5));  // one of four: 0, 1, 2, and the member itself
  CHECK(words.accuse(4, 5));
  CHECK_FALSE(words.sets.believed(5));
  CHECK(words.accuse(2, 5));
  CHECK(words.sets.believed(5));
}

TEST_CASE("who goes of two that accuse each other, and who is at odds with the group") {
  wire::GroupInfo plan = plain_group(5, 8);
  for (Rank rank = 0; rank < 5; ++rank) plan.members[rank].voter = rank < 4 ? static_cast<std::uint32_t>(rank + 1) : 4;
  Words words(plan);
  CHECK(words.sets.weaker(1, 2) == 1);
  CHECK(words.sets.weaker(1, 4) == 4);  // two computers share an account's vote
  CHECK(words.sets.at_odds_since(1) == kNever);
  CHECK(words.accuse(1, 2, TimePoint{} + 3s));
  CHECK(words.sets.at_odds_since(1) == TimePoint{} + 3s);
  CHECK(words.accuse(3, 2, TimePoint{} + 4s));
  CHECK(words.sets.accused_at(2) == TimePoint{} + 3s);
  CHECK(words.sets.at_odds_since(3) == TimePoint{} + 4s);
  words.roster.lose(2);
  CHECK(words.sets.at_odds_since(1) == kNever);  // it was right, or is not alone
}
