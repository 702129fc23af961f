// A member's word about a round that failed for it, or in which somebody was caught lying. A finished round has its
// report besides (round_report.h).
#pragma once

#include <cstdint>
#include <vector>

#include "shared/base/hash.h"
#include "shared/base/ids.h"
#include "shared/protocol/round_report.h"
#include "shared/wire/frames.h"

namespace starling::wire {

constexpr std::size_t kTroublesPerHeartbeatMax = 4;
constexpr std::size_t kProofsPerTroubleMax = 4;
constexpr std::size_t kAccusationsMax = 16;

// The owner of a part has signed two different seals (Seal) for it. The key is its own, so everybody can tell.
struct SealedTwice {
  PeerId owner;
  std::uint32_t rank = 0;
  Hash128 plan_digest;
  KeyBytes key;  // Ed25519, the raw bytes
  Hash128 one;
  SignatureBytes one_signature;
  Hash128 other;
  SignatureBytes other_signature;
  GroupId group{};  // the group of these seals, which in a grid is not the one that the word is about; else zero
};
SealedTwice sealed_twice(const PeerId& owner, const OwnerProof& proof);
// The seals, for a part in this group unless the lie names another.
OwnerProof seals_of(const SealedTwice& lie, const GroupId& group);

// One member said that another one of its group is lost, and was believed, although the reporter had no trouble with
// that one.
struct Accusation {
  PeerId accuser;
  PeerId accused;
};

// The round has no result for the reporter, or somebody is to blame although it has one.
struct RoundTrouble {
  RoundIndex round = 0;
  GroupId group;                      // in a grid: the whole grid's id
  std::vector<Complaint> complaints;  // the reporter's own; none where it reports the round besides
  std::vector<SealedTwice> proofs;
  std::vector<Accusation> accusations{};
};

}  // namespace starling::wire
