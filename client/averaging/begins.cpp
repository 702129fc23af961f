#include "client/averaging/begins.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "shared/swarm/plan.h"

namespace starling::averaging {

Begins::Begins(const wire::GroupInfo& group, const SegmentTable& table, Rank self, const AllReduceOptions& options)
    : group_(group),
      self_(self),
      plan_digest_(swarm::plan_digest(group)),
      weight_max_(options.weight_max),
      signer_(options.signer),
      begins_(group.members.size()),
      received_(table, self) {
  VERIFY(signer_ != nullptr);
}

void Begins::start(const RoundVectors& own, const OwnParts& parts) {
  wire::Begin begin;
  begin.rank = static_cast<std::uint32_t>(self_);
  begin.vector_floats = group_.vector_floats;
  begin.weight = own.weight;
  begin.plan_digest = plan_digest_;
  begin.note = own.note;
  begin.draw = own.draw;
  begin.norms = parts.norms;
  begin.part_digests = parts.digests;
  begin.signature = signer_->sign(wire::signed_text(begin));
  begins_[self_] = std::move(begin);
}

Status Begins::check(const wire::Begin& begin) const {
  if (begin.plan_digest != plan_digest_) return nonsense("it works on another plan");
  if (begin.vector_floats != group_.vector_floats) {
    return nonsense(fmt::format("its vector has {} floats instead of {}", begin.vector_floats, group_.vector_floats));
  }
  const wire::GroupMember& member = group_.members[begin.rank];
  if (begin.weight > 0 && member.role == wire::MemberRole::auxiliary) {
    return nonsense("it would contribute although the plan lets it only add up");
  }
  if (const SampleCount most = weight_max(begin.rank); begin.weight > most) {
    return nonsense(fmt::format("it brings {} samples; the group believes at most {}", begin.weight, most));
  }
  const std::size_t digests = begin.weight > 0 ? group_.members.size() : 0;
  if (begin.part_digests.size() != digests) {
    return nonsense(
        fmt::format("it told the digests of {} parts where there are {}", begin.part_digests.size(), digests));
  }
  const Status proven = signer_->verify(wire::signed_text(begin), begin.signature, member.endpoint.peer);
  return proven.ok() ? Status() : nonsense(fmt::format("a begin is refused: {}", proven.error().message));
}

SampleCount Begins::weight_max(Rank rank) const {
  const SampleCount planned = group_.members[rank].weight_max;
  return planned > 0 ? std::min(planned, weight_max_) : weight_max_;
}

void Begins::keep(wire::Begin begin) {
  std::optional<wire::Begin>& kept = begins_[begin.rank];
  if (!kept) kept = std::move(begin);
}

Status Begins::check_contribution(Rank from, SegmentIndex segment, std::span<const std::uint8_t> payload) {
  if (!begins_[from] || begins_[from]->part_digests.empty()) return {};
  return received_.take(from, segment, payload, begins_[from]->part_digests[self_]);
}

std::optional<ContributionTerms> Begins::terms(Rank rank) const {
  if (!begins_[rank]) return std::nullopt;
  return ContributionTerms{begins_[rank]->weight, begins_[rank]->draw};
}

std::span<const std::uint8_t> Begins::note(Rank rank) const {
  return begins_[rank] ? std::span<const std::uint8_t>(begins_[rank]->note) : std::span<const std::uint8_t>();
}

}  // namespace starling::averaging
