// Owners that give members different values, and what becomes of the round, the liar and its victims.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "client/averaging/contributors.h"
#include "client/averaging/seals.h"
#include "shared/swarm/plan.h"
#include "tests/client/averaging/in_memory_group.h"
#include "tests/client/averaging/round_parts.h"
#include "tests/client/averaging/split_owner.h"
#include "tests/support/plain_signer.h"

using namespace starling;
using namespace starling::averaging;
using Verdict = AveragingOutcome::Verdict;

namespace {

constexpr Rank kLiar = 1;

bool complains(const AveragingOutcome& outcome, Rank about) {
  return std::any_of(outcome.faults.begin(), outcome.faults.end(),
                     [about](const SeenFault& seen) { return seen.rank == about; });
}

// No done of the member `late` arrives.
constexpr Rank kNobodyLate = 1000;

// A group in which kLiar gives other values to `victims`.
struct SplitGroup {
  SplitGroup(GroupOptions options, SplitOwner::IsVictim is_victim, bool seals = true, Rank late = kNobodyLate,
             std::vector<Fault> faults = {})
      : group(std::move(options), std::move(faults)) {
    const auto signer = testing::plain_signer(group.group().members[kLiar].endpoint.peer);
    group.set_tamper([liar = SplitOwner(group.group(), kLiar, signer, std::move(is_victim)), seals, late](
                         Rank from, Rank to, std::vector<std::uint8_t>& frame) mutable {
      const auto header = wire::decode_header(std::span(frame).first<wire::kFrameHeaderBytes>());
      if (from == late && header->type == wire::FrameType::done) return false;
      if (from != kLiar) return true;
      std::vector<std::uint8_t> payload(frame.begin() + wire::kFrameHeaderBytes, frame.end());
      liar.change(to, header.value(), payload, seals);
      std::copy(payload.begin(), payload.end(), frame.begin() + wire::kFrameHeaderBytes);
      return true;
    });
    group.run();
  }
  InMemoryGroup group;
};

AllReduceOptions signed_by(const wire::GroupInfo& group, Rank rank) {
  AllReduceOptions options;
  options.signer = testing::plain_signer(group.members[rank].endpoint.peer);
  return options;
}

wire::Seal seal_of(const wire::GroupInfo& group, Rank owner, std::uint8_t part) {
  wire::Seal seal{group.id, swarm::plan_digest(group), static_cast<std::uint32_t>(owner), {}, {}};
  seal.part_digest.bytes[0] = part;
  seal.signature = signed_by(group, owner).signer->sign(wire::signed_text(seal));
  return seal;
}

}  // namespace

TEST_CASE("the victim of an owner that seals two results is not blamed, and the owner is out") {
  for (const std::size_t members : {4, 5, 9}) {
    CAPTURE(members);
    SplitGroup split({.members = members}, [](Rank to) { return to == 0; });
    InMemoryGroup& group = split.group;
    std::size_t proofs = 0;
    for (Rank rank = 0; rank < members; ++rank) {
      if (rank == kLiar) continue;
      CAPTURE(rank);
      const AveragingOutcome& outcome = *group.outcome(rank);
      proofs += outcome.proofs.size();
      for (const wire::OwnerProof& proof : outcome.proofs) {
        CHECK(wire::check_proof(proof).ok());
        CHECK(proof.one.rank == kLiar);
        CHECK(complains(outcome, kLiar));
      }
      CHECK_FALSE(complains(outcome, 0));
      if (members == 4) continue;  // two of four are not most of them
      CHECK(outcome.verdict == Verdict::averaged);
      CHECK(group.output(rank) == group.output(2));
    }
    CHECK(proofs > 1);  // others may hear of the loss before
  }
}

TEST_CASE("who has its result only when the others have called the round off hears why") {
  for (const bool victim : {false, true}) {
    CAPTURE(victim);
    GroupOptions options{.members = 8};
    options.deferred.resize(8);
    options.deferred[7] = true;
    options.member_slowdown.assign(8, 1);
    options.member_slowdown[7] = 30;
    SplitGroup split(
        options, [victim](Rank to) { return to == 7 ? victim : to % 2 == 0; }, true, 7);
    for (const Rank rank : {0, 2, 3, 4, 5, 6, 7}) {
      CAPTURE(rank);
      CHECK(split.group.outcome(rank)->verdict == Verdict::called_off);
    }
  }
}

TEST_CASE("half of a group with other values: the round is called off, with the proof") {
  SplitGroup split({.members = 6}, [](Rank to) { return to % 2 == 0; });
  for (const Rank rank : {0, 2, 3, 4, 5}) {
    CAPTURE(rank);
    CHECK(split.group.outcome(rank)->verdict == Verdict::called_off);
    CHECK(split.group.outcome(rank)->proofs.size() == 1);
    CHECK(split.group.outcome(rank)->faults.size() == 1);
  }
}

TEST_CASE("a victim for which the others did not wait learns from them who lied, and takes the group's result") {
  GroupOptions options{.members = 7};
  SUBCASE("it has a place late") { options.late = {true, false, false, false, false, false, false}; }
  SUBCASE("it is deferred") { options.deferred = {true, false, false, false, false, false, false}; }
  SplitGroup split(
      options, [](Rank to) { return to == 0; }, true, 0);
  InMemoryGroup& group = split.group;
  for (const Rank rank : {0, 2, 3, 4, 5, 6}) {
    CAPTURE(rank);
    CHECK(group.outcome(rank)->verdict == Verdict::averaged);
    CHECK(group.output(rank) == group.output(2));
  }
  REQUIRE(group.outcome(0)->proofs.size() == 1);
  CHECK(group.outcome(0)->proofs[0].one.rank == kLiar);
  CHECK(group.refusals().empty());
}

TEST_CASE("when most of the group are gone, nothing that the rest holds counts, whether it is equal or not") {
  for (int ms = 10; ms <= 100; ms += 3) {
    CAPTURE(ms);
    std::vector<Fault> kills;
    for (const Rank rank : {2, 3, 4, 5, 6}) kills.push_back({.rank = rank, .at = from_ms(ms)});
    SplitGroup split(
        {.members = 7}, [](Rank to) { return to == 0; }, true, 0, kills);
    REQUIRE(split.group.outcome(0) != nullptr);
    CHECK(split.group.outcome(0)->verdict != Verdict::diverged);
  }
}

TEST_CASE("an owner whose values are not those that it sealed is found out by the one that has them") {
  SplitGroup split(
      {.members = 5}, [](Rank to) { return to == 0; }, false);
  InMemoryGroup& group = split.group;
  CHECK(complains(*group.outcome(0), kLiar));
  for (const Rank rank : {0, 2, 3, 4}) {
    CAPTURE(rank);
    CHECK(group.outcome(rank)->verdict == Verdict::averaged);
    CHECK(group.outcome(rank)->proofs.empty());
    CHECK(group.output(rank) == group.output(2));
    CHECK_FALSE(complains(*group.outcome(rank), 0));
  }
}

TEST_CASE("an owner that left this member out is found by the contributor sets") {
  const wire::GroupInfo plan = plain_group(3, 16);
  RoundParts parts(plan, 0);
  parts.begin(TimePoint{});
  const std::uint8_t all = 0b111;
  const std::uint8_t without_first = 0b110;
  for (SegmentIndex segment = 0; segment < parts.table.size(); ++segment) {
    const bool left_out = segment == parts.table.first(2);
    parts.table.hold(segment, {left_out ? &without_first : &all, 1}, Hash128{});
  }
  CHECK(owners_without_self(parts.table, parts.roster) == std::vector<Rank>{2});
  parts.roster.lose(2);
  CHECK(owners_without_self(parts.table, parts.roster).empty());
}

TEST_CASE("seals prove something only in one plan, and for the one who signed them") {
  const wire::GroupInfo plan = plain_group(3, 16);
  const RoundParts parts(plan, 0, signed_by(plan, 0));
  Seals seals(plan, parts.table, parts.roster, signed_by(plan, 0));
  CHECK(seals.awaits(1));
  CHECK_FALSE(seals.awaits(0));
  REQUIRE(seals.take(seal_of(plan, 1, 1)).ok());
  CHECK_FALSE(seals.awaits(1));
  CHECK(seals.take(seal_of(plan, 1, 1)).value() == std::nullopt);

  const auto refusal = [&](auto spoil) {
    wire::Seal seal = seal_of(plan, 1, 2);
    spoil(seal);
    const auto taken = seals.take(seal);
    return taken.ok() ? std::string() : taken.error().message;
  };
  using Fields = wire::Seal;
  CHECK(refusal([](Fields& seal) { seal.signature = {}; }) == "a seal is refused: it is not signed");
  CHECK(refusal([](Fields& seal) { seal.part_digest.bytes[5] = 1; }) == "a seal is refused: its signature is wrong");
  CHECK(refusal([&](Fields& seal) { seal.signature = seal_of(plan, 2, 2).signature; }) ==
        "a seal is refused: another key signed it");
  CHECK(refusal([](Fields& seal) { seal.plan_digest.bytes[0] ^= 1; }) == "a seal is refused: it is of another plan");
  CHECK(refusal([](Fields& seal) { seal.group.bytes[0] ^= 1; }) == "a seal is refused: it is of another plan");
  CHECK(refusal([](Fields& seal) { seal.rank = 3; }) == "a seal is refused: nobody owns that part");
  CHECK(seals.proofs().empty());

  CHECK(seals.take(seal_of(plan, 1, 2)).value() == Rank{1});
  CHECK(seals.take(seal_of(plan, 1, 3)).value() == std::nullopt);  // one proof is enough
  REQUIRE(seals.proofs().size() == 1);
  CHECK(wire::check_proof(seals.proofs()[0]).ok());
  CHECK_FALSE(wire::check_proof({seal_of(plan, 1, 1), seal_of(plan, 1, 1)}).ok());
  CHECK_FALSE(wire::check_proof({seal_of(plan, 1, 1), seal_of(plan, 2, 2)}).ok());
}
