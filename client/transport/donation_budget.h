// Limits on giving states away: to whom, and how much. Only members that the coordinator has named are served (members
// of a plan, and newcomers that its replies name), and each of them has a budget of bytes for any 24 hours. Pure:
// time comes in. An older coordinator names no newcomers; then every member of the project is served, within its
// budget.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>

#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"

namespace starling::transport {

// The defaults are the product's: a member that restarts every hour still gets its states from one donor.
struct DonationLimits {
  double downloads_per_day = 24;                           // whole states for each peer
  std::int64_t bytes_per_day_min = std::int64_t{2} << 30;  // for each peer, where states are small
  Duration named_for = std::chrono::hours(24);             // lifetime of a certificate
  std::size_t peers_max = 16384;                           // peers that are remembered; further ones are not served
};

class DonationBudget {
 public:
  explicit DonationBudget(DonationLimits limits = {}) : limits_(limits) {}

  // The coordinator has named these peers. Naming a peer again prolongs it.
  void name(TimePoint now, std::span<const PeerId> peers);
  // Whether peers must be named; at first they need not be.
  void require_names(bool required) { names_required_ = required; }

  // Takes `bytes` of the peer's budget for a state of `state_bytes`. Otherwise an error that names the peer:
  // permission_denied when the coordinator has not named it, resource_exhausted when its budget does not suffice.
  Status spend(TimePoint now, const PeerId& peer, std::size_t state_bytes, std::size_t bytes);
  // Bytes that were spent lately, and then not sent.
  void give_back(const PeerId& peer, std::size_t bytes);

 private:
  struct Hour {
    TimePoint begin;
    std::int64_t bytes = 0;
  };
  struct Peer {
    TimePoint named_until{};
    std::deque<Hour> spent;  // oldest first, none older than a day
  };

  [[nodiscard]] Peer* find_or_add(TimePoint now, const PeerId& id);
  static void forget_old(TimePoint now, Peer& peer);

  DonationLimits limits_;
  bool names_required_ = false;
  std::unordered_map<PeerId, Peer> peers_;
};

}  // namespace starling::transport
