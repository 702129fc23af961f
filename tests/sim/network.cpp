#include "tests/sim/network.h"

#include <algorithm>

namespace starling::sim {

int Network::add_peer(const LinkRates& rates) {
  peers_.push_back({rates, {}, {}});
  return static_cast<int>(peers_.size()) - 1;
}

void Network::send(int from, int to, std::size_t bytes, std::function<void()> sent, std::function<void()> arrived) {
  Peer& sender = peers_[static_cast<std::size_t>(from)];
  sender.uplink_free = scheduler_.now() + from_seconds(static_cast<double>(bytes) / sender.rates.upload_bytes_per_s);
  scheduler_.at(sender.uplink_free, std::move(sent));
  scheduler_.at(sender.uplink_free + path(from, to), [this, from, to, bytes, arrived = std::move(arrived)]() mutable {
    arrive(from, to, bytes, std::move(arrived));
  });
}

void Network::arrive(int from, int to, std::size_t bytes, std::function<void()> arrived) {
  if (const auto cut = cuts_.find({from, to}); cut != cuts_.end() && scheduler_.now() < cut->second) {
    scheduler_.at(cut->second, [this, from, to, bytes, arrived = std::move(arrived)]() mutable {
      arrive(from, to, bytes, std::move(arrived));
    });
    return;
  }
  Peer& receiver = peers_[static_cast<std::size_t>(to)];
  receiver.downlink_free = std::max(receiver.downlink_free, scheduler_.now()) +
                           from_seconds(static_cast<double>(bytes) / receiver.rates.download_bytes_per_s);
  scheduler_.at(receiver.downlink_free, std::move(arrived));
}

}  // namespace starling::sim
