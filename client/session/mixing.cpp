#include "client/session/mixing.h"

#include <algorithm>
#include <utility>

#include "shared/base/verify.h"

namespace starling::session {
namespace {

// A partner may be in the middle of a batch, or of a mixing with another one that waits in its turn.
constexpr Duration kPatienceLeast = std::chrono::seconds(2);
constexpr int kPatienceTimes = 4;
constexpr Duration kPatienceMost = std::chrono::seconds(60);
// Who did not come the last time may have come first this time: then its frames are here already.
constexpr Duration kAbsentPatience = std::chrono::milliseconds(250);
// Numbers that a member who is late may pass with what it has sent out; then it sends out anew.
constexpr int kTriesMax = 16;

using averaging::AveragingOutcome;

bool others_are_in(const AveragingOutcome& outcome) {
  using Verdict = AveragingOutcome::Verdict;
  const bool whole = outcome.verdict == Verdict::averaged || outcome.verdict == Verdict::minority;
  return whole && outcome.weight_total > 1;
}

// They have told that it is over there: their fault it is not.
bool others_went_on(const AveragingOutcome& outcome) { return !outcome.lost.empty() && outcome.faults.empty(); }

}  // namespace

Mixing::Mixing(std::string partners, const PeerId& self, const wire::Bucket& bucket)
    : partners_(std::move(partners)), self_(self), bucket_(bucket) {
  VERIFY(!partners_.empty());
}

void Mixing::begin_round(TimePoint now, const wire::GroupInfo& last, std::span<const PeerId> members, RoundIndex round,
                         const Digest& state) {
  end_round();
  absent_.clear();
  last_step_ = now;
  if (members.empty()) return;
  groups_.emplace(partners_, last, members, swarm::AgreedBucket{bucket_, round, state});
}

void Mixing::forget() { stage_ = Stage::nothing; }

Mixing::Order Mixing::on_stepped(TimePoint now) {
  if (!groups_) return {};
  batch_ = now - last_step_;
  last_step_ = now;
  Order order;
  order.take_in = stage_ == Stage::arrived;
  order.send_out = order.take_in || (stage_ == Stage::nothing && now >= not_before_);
  if (order.send_out) stage_ = Stage::sending;
  return order;
}

std::optional<swarm::MixingGroup> Mixing::on_sent_out(TimePoint now) {
  if (stage_ != Stage::sending) return std::nullopt;
  tries_ = 0;
  return next(now);
}

std::optional<swarm::MixingGroup> Mixing::next(TimePoint now) {
  stage_ = Stage::nothing;
  not_before_ = now + mixing_;  // all keep to about the same number: without a partner, a mixing takes as long as with
  if (tries_++ == kTriesMax) return std::nullopt;
  auto mixing = groups_->next(self_);
  if (!mixing) return std::nullopt;
  stage_ = Stage::meeting;
  met_at_ = now;
  meeting_ = mixing->group;
  mixing->group.begin_within_ms = to_ms(patience());
  return mixing;
}

Duration Mixing::patience() const {
  const auto is_awaited = [this](const wire::GroupMember& member) {
    return member.endpoint.peer != self_ && !absent_.contains(member.endpoint.peer);
  };
  if (std::none_of(meeting_.members.begin(), meeting_.members.end(), is_awaited)) return kAbsentPatience;
  return std::clamp(kPatienceTimes * std::max(batch_, mixing_), kPatienceLeast, kPatienceMost);
}

std::optional<swarm::MixingGroup> Mixing::on_mixed(TimePoint now, const GroupId& id, const AveragingOutcome& outcome) {
  if (stage_ != Stage::meeting || id != meeting_.id) return std::nullopt;
  for (const wire::GroupMember& member : meeting_.members) absent_.erase(member.endpoint.peer);
  if (others_are_in(outcome)) {
    stage_ = Stage::arrived;
    mixing_ = now - met_at_;
    ++mixed_;
  }
  for (const averaging::SeenFault& seen : outcome.faults) {
    if (seen.fault != wire::Fault::slow) absent_.insert(meeting_.members[seen.rank].endpoint.peer);
  }
  if (stage_ == Stage::arrived) return std::nullopt;
  ++missed_;
  if (others_went_on(outcome)) return next(now);
  stage_ = Stage::nothing;
  return std::nullopt;
}

}  // namespace starling::session
