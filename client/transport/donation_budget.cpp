#include "client/transport/donation_budget.h"

#include <fmt/core.h>

#include <algorithm>

namespace starling::transport {
namespace {

constexpr Duration kDay = std::chrono::hours(24);
constexpr Duration kHour = std::chrono::hours(1);

}  // namespace

void DonationBudget::name(TimePoint now, std::span<const PeerId> peers) {
  for (const PeerId& id : peers) {
    if (Peer* const peer = find_or_add(now, id)) peer->named_until = now + limits_.named_for;
  }
}

Status DonationBudget::spend(TimePoint now, const PeerId& id, std::size_t state_bytes, std::size_t bytes) {
  const auto known = peers_.find(id);
  const bool named = known != peers_.end() && now < known->second.named_until;
  if (names_required_ && !named) {
    return Error{ErrorCode::permission_denied,
                 fmt::format("no state for {}: the coordinator has not named it", id.brief())};
  }
  Peer* const peer = find_or_add(now, id);
  if (peer == nullptr) {
    return Error{ErrorCode::resource_exhausted,
                 fmt::format("no state for {}: {} others had one within a day", id.brief(), limits_.peers_max)};
  }
  forget_old(now, *peer);
  std::int64_t spent = 0;
  for (const Hour& hour : peer->spent) spent += hour.bytes;
  const auto downloads = static_cast<std::int64_t>(limits_.downloads_per_day * static_cast<double>(state_bytes));
  const std::int64_t limit = std::max(downloads, limits_.bytes_per_day_min);
  const auto wanted = static_cast<std::int64_t>(bytes);
  if (wanted > limit - spent) {
    return Error{ErrorCode::resource_exhausted,
                 fmt::format("no more of a state for {}: it has had {} bytes within a day", id.brief(), spent)};
  }
  if (peer->spent.empty() || now - peer->spent.back().begin >= kHour) peer->spent.push_back({now, 0});
  peer->spent.back().bytes += wanted;
  return {};
}

void DonationBudget::give_back(const PeerId& id, std::size_t bytes) {
  const auto found = peers_.find(id);
  if (found == peers_.end()) return;
  auto rest = static_cast<std::int64_t>(bytes);
  auto& spent = found->second.spent;
  for (auto hour = spent.rbegin(); hour != spent.rend() && rest > 0; ++hour) {
    const std::int64_t returned = std::min(rest, hour->bytes);
    hour->bytes -= returned;
    rest -= returned;
  }
}

DonationBudget::Peer* DonationBudget::find_or_add(TimePoint now, const PeerId& id) {
  if (const auto found = peers_.find(id); found != peers_.end()) return &found->second;
  if (peers_.size() >= limits_.peers_max) {
    for (auto& [other, peer] : peers_) forget_old(now, peer);
    std::erase_if(peers_,
                  [&](const auto& entry) { return entry.second.spent.empty() && now >= entry.second.named_until; });
    if (peers_.size() >= limits_.peers_max) return nullptr;
  }
  return &peers_[id];
}

// An hour's bytes count until a day after its end, so that no 24 hours hold more than a day's budget.
void DonationBudget::forget_old(TimePoint now, Peer& peer) {
  while (!peer.spent.empty() && now - peer.spent.front().begin >= kDay + kHour) peer.spent.pop_front();
}

}  // namespace starling::transport
