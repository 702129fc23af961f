// Home links: every peer has an uplink and a downlink, each serving one frame at a time at its rate, and a latency. A
// frame leaves its sender's uplink, travels, and passes its receiver's downlink. Links lose nothing and keep the order
// (TCP), but they can be cut in one direction: then frames arrive when it heals, as retransmissions do.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "tests/sim/scheduler.h"

namespace starling::sim {

struct LinkRates {
  double upload_bytes_per_s = 1e6;
  double download_bytes_per_s = 1e6;
  Duration latency{};  // this end's share of a path's one-way delay
};

class Network {
 public:
  explicit Network(Scheduler& scheduler) : scheduler_(scheduler) {}

  int add_peer(const LinkRates& rates);
  [[nodiscard]] const LinkRates& rates(int peer) const { return peers_[static_cast<std::size_t>(peer)].rates; }
  [[nodiscard]] Duration path(int from, int to) const { return rates(from).latency + rates(to).latency; }

  // True when `from` can put a frame on its uplink now.
  [[nodiscard]] bool uplink_free(int from) const {
    return peers_[static_cast<std::size_t>(from)].uplink_free <= scheduler_.now();
  }
  // Occupies the uplink for `bytes`, calls `sent` when it is free again, and `arrived` at the other end.
  void send(int from, int to, std::size_t bytes, std::function<void()> sent, std::function<void()> arrived);

  void cut_until(int from, int to, TimePoint heals) { cuts_[{from, to}] = heals; }

 private:
  struct Peer {
    LinkRates rates;
    TimePoint uplink_free{};
    TimePoint downlink_free{};
  };
  Scheduler& scheduler_;
  std::vector<Peer> peers_;
  void arrive(int from, int to, std::size_t bytes, std::function<void()> arrived);

  std::map<std::pair<int, int>, TimePoint> cuts_;  // and when they heal
};

}  // namespace starling::sim
