#include "client/averaging/balance.h"

#include <algorithm>

namespace starling::averaging {
namespace {

// The number of segments by which a link may be ahead of the last one: enough that its socket never runs dry.
constexpr double kLeadMax = 2;
// A rest is over when this many segments could have gone out at the link's own pace.
constexpr double kRestSegments = 3;
// Links that need less time for a segment are not worth the wakes.
constexpr Duration kPaceMin = std::chrono::milliseconds(2);

}  // namespace

void Balance::set_sent(TimePoint now, Rank to, std::uint32_t segments) {
  if (began_ == kNever) began_ = now;
  links_[to].sent = segments;
}

// How far `ahead` is ahead of the place at which both links would be in step, in segments of that link.
double Balance::lead(Rank ahead, Rank behind) const {
  return links_[ahead].sent - static_cast<double>(links_[behind].sent) * planned_[ahead] / planned_[behind];
}

bool Balance::rests(TimePoint now, Rank to, const std::function<bool(Rank)>& open) {
  if (planned_[to] == 0) return false;
  Link& link = links_[to];
  Rank last = to;
  for (Rank rank = 0; rank < links_.size(); ++rank) {
    if (rank == to || planned_[rank] == 0 || links_[rank].sent >= planned_[rank] || !open(rank)) continue;
    if (links_[rank].behind && lead(to, rank) <= kLeadMax) links_[rank].behind = false;
    if (!links_[rank].behind && lead(to, rank) > kLeadMax && (last == to || lead(last, rank) > 0)) last = rank;
  }
  if (last != to && link.rest_until == kNever) {
    const Duration pace = (now - began_) / std::max<std::uint32_t>(1, link.sent);
    if (pace < kPaceMin) return false;
    link.rest_until = now + from_seconds(kRestSegments * to_seconds(pace));
  }
  if (last != to && now >= link.rest_until) {
    links_[last].behind = true;
    last = to;
  }
  const bool rests = last != to;
  if (!rests) link.rest_until = kNever;
  if (rests != link.resting) resting_ += rests ? 1 : -1;
  link.resting = rests;
  return rests;
}

std::vector<Rank> Balance::take_resting() {
  std::vector<Rank> resting;
  for (Rank rank = 0; rank < links_.size() && resting_ > 0; ++rank) {
    if (!links_[rank].resting) continue;
    links_[rank].resting = false;
    --resting_;
    resting.push_back(rank);
  }
  return resting;
}

TimePoint Balance::wake_at() const {
  TimePoint at = kNever;
  for (const Link& link : links_) at = std::min(at, link.resting ? link.rest_until : kNever);
  return at;
}

}  // namespace starling::averaging
