// Which members hold the canonical state, and which only say so. Every reply carries a challenge, and the next
// heartbeat the member's proof (wire::HoldingProof). The coordinator holds no state, so it compares: a proof that more
// than half of the accounts give that say they hold the state is the right one, and any other is a lie. While no proof
// has two accounts behind it nobody is refuted: whoever loads such a state checks it against the signed chain. A member
// that goes on saying that it holds the state, and proves nothing, does not count as a holder. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "coordinator/core/member.h"
#include "shared/base/clock.h"
#include "shared/base/hash.h"

namespace starling::core {

// Sets Member::holding.
class HolderBook {
 public:
  // secret: not guessable
  explicit HolderBook(std::uint64_t secret);

  // The challenge for the next reply of each member. It is the same for all, and for a while: a group's members have
  // heard it before they step, so their proofs of the new state come with their reports.
  [[nodiscard]] const Hash128& challenge() const { return challenge_; }
  // Takes the proof, or the lack of one, of the member's call, and judges it by the last comparison.
  void on_call(Member& member, const wire::Heartbeat& heartbeat, const Digest& canonical) const;
  // Compares the proofs of all members, and judges those whose claim is another one now. Returns the members whose
  // proof is false.
  std::vector<PeerId> compare(TimePoint now, MemberTable& members, const Digest& canonical);
  // Replaces the challenge when it is old. Call it now and then.
  void sweep(TimePoint now);

 private:
  void ask_again();
  void judge(Member& member, const Digest& canonical) const;

  std::uint64_t secret_;
  std::uint64_t serial_ = 0;
  Hash128 challenge_;
  Hash128 previous_;  // members that have not called since answer it
  TimePoint asked_at_ = kNever;
  std::map<Hash128, Digest> right_;  // the right proof of each challenge, as far as there is one
  Digest compared_;                  // the state that these are of
};

}  // namespace starling::core
