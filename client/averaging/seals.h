// The owners' seals: when an owner's part is finished, it signs one digest of all values and contributor sets in it,
// and sends that to everybody. So a member notices when it was given other values than the owner says it has sent,
// before it says that it is done. Two different seals of one owner in one plan prove that it lied, to anybody.
//
// Members whose results differ pass all seals that they hold on to each other, once. If an owner sealed two things, its
// victim and the others then hold the proof within a moment. Single-threaded.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "client/averaging/roster.h"
#include "client/averaging/round_types.h"
#include "client/averaging/segment_table.h"
#include "shared/wire/frames.h"

namespace starling::averaging {

class Seals {
 public:
  // How a dispute about different results stands.
  enum class Dispute : std::uint8_t {
    open,      // proofs may still come
    proven,    // an owner lied, and here is the proof
    unproven,  // nobody has shown a proof in time
  };

  // The references outlive this object.
  Seals(const wire::GroupInfo& group, const SegmentTable& table, const Roster& roster, const AllReduceOptions& options);

  // Signs this member's own part, which is finished.
  void seal_own();
  // Takes a seal, from its owner or passed on by anybody. Returns the owner, if its lie is proven for the first time by
  // it. An error means that no honest member sends it.
  Result<std::optional<Rank>> take(const wire::Seal& seal);

  // A survivor's seal is not here yet, although it owns a part.
  [[nodiscard]] bool awaits(Rank owner) const;
  [[nodiscard]] bool awaits_any() const;
  // An owner among the survivors whose part, which is held here, is not what it has sealed; once everything is held.
  [[nodiscard]] std::optional<Rank> contradicted() const;

  // The owner's lie is proven here.
  [[nodiscard]] bool is_proven(Rank owner) const;
  // This member and `rank` hold different results. True for the first time: it should get all seals from here.
  bool dispute_with(TimePoint now, Rank rank);
  [[nodiscard]] Dispute dispute(TimePoint now) const;
  // When an open dispute ends; kNever while there is none.
  [[nodiscard]] TimePoint dispute_ends() const { return proofs_.empty() ? dispute_ends_ : kNever; }

  // The owner has sealed something else for this member. take() has had the seal.
  [[nodiscard]] bool contradicts(const wire::Seal& seal) const;
  // The first seal that came of this owner.
  [[nodiscard]] const std::optional<wire::Seal>& of(Rank owner) const { return seals_[owner]; }
  // At most one for each owner.
  [[nodiscard]] const std::vector<wire::OwnerProof>& proofs() const { return proofs_; }

 private:
  const wire::GroupInfo& group_;
  const SegmentTable& table_;
  const Roster& roster_;
  Hash128 plan_digest_;
  Duration patience_;
  std::shared_ptr<const crypto::PeerSigner> signer_;
  std::vector<std::optional<wire::Seal>> seals_;  // by owner
  std::vector<wire::OwnerProof> proofs_;
  std::vector<bool> disputed_;  // by rank
  TimePoint dispute_ends_ = kNever;
};

}  // namespace starling::averaging
