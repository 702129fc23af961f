// Home links: every peer has an uplink and a downlink, each serving one frame at a time at its rate, and a latency. A
// frame leaves its sender's uplink, travels, and passes its receiver's downlink. Links lose nothing and keep the order
// (TCP), but they can be cut in one direction: then frames arrive when it heals, like retransmissions do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "shared/wire/frames.h"
#include "tests/sim/scheduler.h"

namespace starling::sim {

struct LinkRates {
  double upload_bytes_per_s = 1e6;
  double download_bytes_per_s = 1e6;
  Duration latency{};  // this end's share of a path's one-way delay
};

// The channel of calls, where a link also carries the rounds of several runs: those have the numbers from 0 on.
constexpr int kCallChannel = -1;

struct Frame {
  int from = 0;
  int to = 0;
  int channel = 0;
  std::uint64_t from_life = 0;
  std::uint64_t to_life = 0;  // the receiver's life when it was sent
  wire::FrameHeader header;
  std::vector<std::uint8_t> payload;
  [[nodiscard]] std::size_t bytes() const { return wire::kFrameHeaderBytes + payload.size(); }
};

class Network {
 public:
  // Takes every frame that arrives, and hears of every peer whose uplink has become free.
  class Mediator {
   public:
    virtual ~Mediator() = default;
    virtual void on_arrived(const Frame& frame) = 0;
    virtual void on_uplink_free(int peer) = 0;
  };
  Network(Scheduler& scheduler, Mediator& mediator) : scheduler_(scheduler), mediator_(mediator) {}

  int add_peer(const LinkRates& rates);
  [[nodiscard]] const LinkRates& rates(int peer) const { return peers_[static_cast<std::size_t>(peer)].rates; }
  [[nodiscard]] Duration path(int from, int to) const { return rates(from).latency + rates(to).latency; }

  // True when `from` can put a frame on its uplink now.
  [[nodiscard]] bool uplink_free(int from) const {
    return peers_[static_cast<std::size_t>(from)].uplink_free <= scheduler_.now();
  }
  // Returns a frame to fill and send: one that has arrived, with the memory it has, or a new one.
  std::unique_ptr<Frame> blank_frame();
  // Occupies the sender's uplink until the last byte has left.
  void send(std::unique_ptr<Frame> frame);

  // Cuts one direction. A direction that is cut already heals at its earlier set time: frames that wait for that stay
  // in their order.
  void cut_until(int from, int to, TimePoint heals) {
    TimePoint& known = cuts_[{from, to}];
    if (known <= scheduler_.now()) known = heals;
  }

 private:
  struct Peer {
    LinkRates rates;
    TimePoint uplink_free{};
    TimePoint downlink_free{};
  };
  // Frames under way wait in places that are used again and again: events then hold a number, and no memory.
  struct Way {
    int from = 0;
    int to = 0;
    double bytes = 0;
    std::unique_ptr<Frame> frame;
  };
  std::uint32_t put(std::unique_ptr<Frame> frame);
  void travel(std::uint32_t place);
  void arrive(std::uint32_t place);

  Scheduler& scheduler_;
  Mediator& mediator_;
  std::vector<Peer> peers_;
  std::vector<Way> under_way_;
  std::vector<std::uint32_t> free_;  // places of under_way_
  std::vector<std::unique_ptr<Frame>> blank_;
  std::map<std::pair<int, int>, TimePoint> cuts_;  // by direction: when the cut heals
};

}  // namespace starling::sim
