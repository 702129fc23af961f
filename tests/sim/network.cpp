#include "tests/sim/network.h"

#include <algorithm>
#include <utility>

namespace starling::sim {

int Network::add_peer(const LinkRates& rates) {
  peers_.push_back({rates, {}, {}});
  return static_cast<int>(peers_.size()) - 1;
}

std::uint32_t Network::put(std::unique_ptr<Frame> frame) {
  Way way{frame->from, frame->to, static_cast<double>(frame->bytes()), std::move(frame)};
  if (free_.empty()) {
    under_way_.push_back(std::move(way));
    return static_cast<std::uint32_t>(under_way_.size() - 1);
  }
  const std::uint32_t place = free_.back();
  free_.pop_back();
  under_way_[place] = std::move(way);
  return place;
}

void Network::send(std::unique_ptr<Frame> frame) {
  const std::uint32_t place = put(std::move(frame));
  const Way& way = under_way_[place];
  Peer& sender = peers_[static_cast<std::size_t>(way.from)];
  sender.uplink_free = scheduler_.now() + from_seconds(way.bytes / sender.rates.upload_bytes_per_s);
  scheduler_.at(sender.uplink_free, [this, from = way.from] { mediator_.on_uplink_free(from); });
  scheduler_.at(sender.uplink_free + path(way.from, way.to), [this, place] { travel(place); });
}

// Handles a frame at the end of its way through the network, in front of its receiver's downlink.
void Network::travel(std::uint32_t place) {
  const Way& way = under_way_[place];
  if (!cuts_.empty()) {
    const auto cut = cuts_.find({way.from, way.to});
    if (cut != cuts_.end() && scheduler_.now() < cut->second) {
      scheduler_.at(cut->second, [this, place] { travel(place); });
      return;
    }
  }
  Peer& receiver = peers_[static_cast<std::size_t>(way.to)];
  receiver.downlink_free = std::max(receiver.downlink_free, scheduler_.now()) +
                           from_seconds(way.bytes / receiver.rates.download_bytes_per_s);
  scheduler_.at(receiver.downlink_free, [this, place] { arrive(place); });
}

void Network::arrive(std::uint32_t place) {
  free_.push_back(place);
  std::unique_ptr<Frame> frame = std::move(under_way_[place].frame);
  mediator_.on_arrived(*frame);
  blank_.push_back(std::move(frame));
}

std::unique_ptr<Frame> Network::blank_frame() {
  if (blank_.empty()) return std::make_unique<Frame>();
  std::unique_ptr<Frame> frame = std::move(blank_.back());
  blank_.pop_back();
  return frame;
}

}  // namespace starling::sim
