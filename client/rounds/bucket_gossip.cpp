#include "client/rounds/bucket_gossip.h"

#include <algorithm>
#include <utility>

namespace starling::rounds {
namespace {

// A partner may be in the middle of a batch, or of a meeting with another one that waits in its turn.
constexpr Duration kPatienceLeast = std::chrono::seconds(2);
constexpr int kPatienceTimes = 4;
constexpr int kIntervalsWaited = 2;
constexpr Duration kPatienceMost = std::chrono::seconds(60);
// A member that did not come the last time may have come first this time: then its frames are here already.
constexpr Duration kAbsentPatience = std::chrono::milliseconds(250);
// Numbers that a late member may pass with the vector it has sent out; then it sends out again.
constexpr int kTriesMax = 16;

using averaging::AveragingOutcome;

bool others_are_in(const AveragingOutcome& outcome) {
  using Verdict = AveragingOutcome::Verdict;
  const bool whole = outcome.verdict == Verdict::averaged || outcome.verdict == Verdict::minority;
  return whole && outcome.weight_total > 1;
}

// True if they have reported that the meeting is over there: they are not at fault.
bool others_went_on(const AveragingOutcome& outcome) { return !outcome.lost.empty() && outcome.faults.empty(); }

}  // namespace

BucketGossip::BucketGossip(const wire::LocalOptions& options, const PeerId& self, const wire::Bucket& bucket)
    : partners_(options.partners.value()),
      self_(self),
      bucket_(bucket),
      interval_(options.mix_every, options.consensus_bound) {}

void BucketGossip::begin_round(TimePoint now, const wire::GroupInfo& last, std::span<const PeerId> members,
                               RoundIndex round, const Digest& state) {
  end_round();
  absent_.clear();
  last_step_ = now;
  since_sent_ = since_taken_ = 0;
  none_taken_ = true;
  if (members.empty()) return;
  groups_.emplace(partners_, last, members, swarm::AgreedBucket{bucket_, round, state});
}

void BucketGossip::on_averaged(double distance, int members) {
  if (members > 1 && none_taken_) interval_.on_mixed(distance, members, since_taken_);
}

void BucketGossip::forget() { stage_ = Stage::nothing; }

BucketGossip::Order BucketGossip::on_stepped(TimePoint now) {
  if (!groups_) return {};
  batch_ = now - last_step_;
  last_step_ = now;
  ++since_sent_;
  ++since_taken_;
  Order order;
  order.take_in = stage_ == Stage::arrived;
  order.measure = order.take_in && interval_.measures();
  if (order.take_in) {
    stage_ = Stage::nothing;
    none_taken_ = false;
    met_after_ = std::exchange(since_taken_, 0);
  }
  const bool free = order.take_in || (stage_ == Stage::nothing && now >= not_before_);
  order.send_out = free && since_sent_ >= interval_.steps();
  if (order.send_out) {
    stage_ = Stage::sending;
    since_sent_ = 0;
  }
  return order;
}

std::optional<swarm::GossipGroup> BucketGossip::on_sent_out(TimePoint now) {
  if (stage_ != Stage::sending) return std::nullopt;
  tries_ = 0;
  return next(now);
}

std::optional<swarm::GossipGroup> BucketGossip::next(TimePoint now) {
  stage_ = Stage::nothing;
  // all keep to about the same number: without a partner, a meeting takes as long as with one
  not_before_ = now + meeting_time_;
  if (tries_++ == kTriesMax) return std::nullopt;
  auto gossip = groups_->next(self_);
  if (!gossip) return std::nullopt;
  stage_ = Stage::meeting;
  met_at_ = now;
  meeting_ = gossip->group;
  gossip->group.begin_within_ms = to_ms(patience());
  return gossip;
}

Duration BucketGossip::patience() const {
  const auto is_awaited = [this](const wire::GroupMember& member) {
    return member.endpoint.peer != self_ && !absent_.contains(member.endpoint.peer);
  };
  if (std::none_of(meeting_.members.begin(), meeting_.members.end(), is_awaited)) return kAbsentPatience;
  const Duration interval = kIntervalsWaited * interval_.steps() * batch_;
  return std::clamp(std::max(kPatienceTimes * std::max(batch_, meeting_time_), interval), kPatienceLeast,
                    kPatienceMost);
}

std::optional<swarm::GossipGroup> BucketGossip::on_mixed(TimePoint now, const GroupId& id,
                                                         const AveragingOutcome& outcome) {
  if (stage_ != Stage::meeting || id != meeting_.id) return std::nullopt;
  for (const wire::GroupMember& member : meeting_.members) absent_.erase(member.endpoint.peer);
  if (others_are_in(outcome)) {
    stage_ = Stage::arrived;
    meeting_time_ = now - met_at_;
    met_members_ = static_cast<int>(outcome.weight_total);  // each weighs 1
    ++counts_.mixed;
  }
  for (const averaging::SeenFault& seen : outcome.faults) {
    if (seen.fault != wire::Fault::slow) absent_.insert(meeting_.members[seen.rank].endpoint.peer);
  }
  if (stage_ == Stage::arrived) return std::nullopt;
  ++counts_.missed;
  if (others_went_on(outcome)) return next(now);
  stage_ = Stage::nothing;
  return std::nullopt;
}

}  // namespace starling::rounds
