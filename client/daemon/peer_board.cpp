#include "client/daemon/peer_board.h"

#include <string>

namespace starling::daemon {

void PeerBoard::begin_round(const wire::GroupInfo& plan, averaging::Rank self) {
  std::map<PeerId, SampleCount> brought;  // samples in the round before
  for (const wire::PeerView& peer : peers_.peers) brought[peer.peer] = peer.samples;
  peers_ = {plan.round, static_cast<std::int64_t>(plan.members.size()), {}};
  for (std::size_t rank = 0; rank < plan.members.size(); ++rank) {
    const bool is_self = rank == static_cast<std::size_t>(self);
    if (!is_self && peers_.peers.size() >= wire::kPeersShownMax - 1) continue;  // one place is for this computer
    const wire::GroupMember& member = plan.members[rank];
    const double part = static_cast<double>(member.part_floats) / static_cast<double>(plan.vector_floats);
    peers_.peers.push_back({member.endpoint.peer, std::string(wire::to_string(member.role)),
                            brought[member.endpoint.peer], part, !member.endpoint.relay.is_zero(), is_self});
  }
}

void PeerBoard::end_round(const std::map<PeerId, SampleCount>& samples) {
  for (wire::PeerView& peer : peers_.peers) {
    const auto brought = samples.find(peer.peer);
    peer.samples = brought == samples.end() ? 0 : brought->second;
  }
}

wire::PeersView PeerBoard::view(std::span<const transport::PeerSpeed> speeds) const {
  std::map<PeerId, transport::PeerSpeed> by_peer;
  for (const transport::PeerSpeed& speed : speeds) by_peer[speed.peer] = speed;
  wire::PeersView view = peers_;
  for (wire::PeerView& peer : view.peers) {
    const transport::PeerSpeed& speed = by_peer[peer.peer];
    peer.upload_bytes_per_s = speed.upload_bytes_per_s;
    peer.download_bytes_per_s = speed.download_bytes_per_s;
    peer.round_trip_ms = 1000 * to_seconds(speed.round_trip);
  }
  return view;
}

}  // namespace starling::daemon
