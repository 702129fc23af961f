#include "client/averaging/seals.h"

#include <fmt/core.h>

#include <algorithm>

#include "shared/swarm/plan.h"

namespace starling::averaging {

Seals::Seals(const wire::GroupInfo& group, const SegmentTable& table, const Roster& roster,
             const AllReduceOptions& options)
    : group_(group),
      table_(table),
      roster_(roster),
      plan_digest_(swarm::plan_digest(group)),
      patience_(options.silence_floor),
      signer_(options.signer),
      seals_(group.members.size()),
      disputed_(group.members.size()) {}

void Seals::seal_own() {
  const Rank self = roster_.self();
  wire::Seal seal{group_.id, plan_digest_, static_cast<std::uint32_t>(self), table_.part_digest(self), {}};
  seal.signature = signer_->sign(wire::signed_text(seal));
  seals_[self] = seal;
}

Result<std::optional<Rank>> Seals::take(const wire::Seal& seal) {
  const Rank owner = seal.rank;
  if (owner >= seals_.size() || table_.first(owner) == table_.first(owner + 1)) {
    return nonsense("a seal is refused: nobody owns that part");
  }
  if (seal.group != group_.id || seal.plan_digest != plan_digest_) {
    return nonsense("a seal is refused: it is of another plan");
  }
  std::optional<wire::Seal>& kept = seals_[owner];
  if (kept && kept->part_digest == seal.part_digest) return std::optional<Rank>();
  const PeerId& peer = group_.members[owner].endpoint.peer;
  if (const Status proven = signer_->verify(wire::signed_text(seal), seal.signature, peer); !proven.ok()) {
    return nonsense(fmt::format("a seal is refused: {}", proven.error().message));
  }
  if (!kept) {
    kept = seal;
    return std::optional<Rank>();
  }
  if (owner == roster_.self() || is_proven(owner)) return std::optional<Rank>();
  proofs_.push_back({*kept, seal});
  return std::optional<Rank>(owner);
}

bool Seals::contradicts(const wire::Seal& seal) const {
  const std::optional<wire::Seal>& kept = seals_[seal.rank];
  return kept && kept->part_digest != seal.part_digest;
}

bool Seals::is_proven(Rank owner) const {
  return std::any_of(proofs_.begin(), proofs_.end(),
                     [owner](const wire::OwnerProof& proof) { return proof.one.rank == owner; });
}

bool Seals::awaits(Rank owner) const {
  return roster_.live(owner) && table_.first(owner) != table_.first(owner + 1) && !seals_[owner];
}

bool Seals::awaits_any() const {
  for (Rank owner = 0; owner < seals_.size(); ++owner) {
    if (awaits(owner)) return true;
  }
  return false;
}

std::optional<Rank> Seals::contradicted() const {
  for (Rank owner = 0; owner < seals_.size(); ++owner) {
    if (owner == roster_.self() || !roster_.live(owner) || !seals_[owner] || is_proven(owner)) continue;
    if (seals_[owner]->part_digest != table_.part_digest(owner)) return owner;
  }
  return std::nullopt;
}

bool Seals::dispute_with(TimePoint now, Rank rank) {
  if (disputed_[rank]) return false;
  disputed_[rank] = true;
  dispute_ends_ = now + patience_;
  return true;
}

Seals::Dispute Seals::dispute(TimePoint now) const {
  if (!proofs_.empty()) return Dispute::proven;
  return now < dispute_ends_ ? Dispute::open : Dispute::unproven;
}

}  // namespace starling::averaging
