#include "client/daemon/reach.h"

#include <fmt/core.h>

#include <utility>
#include <vector>

#include "shared/protocol/heartbeat.h"
#include "shared/protocol/heartbeat_reply.h"

namespace starling::daemon {

Reach::Reach(RunThreads& threads, transport::PeerNetwork& network, std::function<void(TimePoint now)> changed)
    : threads_(threads), network_(network), changed_(std::move(changed)) {}

void Reach::obey(const Permission& permission) {
  relay_bytes_per_s_ = permission.relay_bytes_per_s;
  port_mapping_ = permission.port_mapping;
  keep_port_open();
}

void Reach::tell(wire::Heartbeat& heartbeat) const {
  const transport::RelayView relay = network_.stats().relay;
  heartbeat.relaying.posted_at = relay.posted_at.value_or(PeerId{});
  heartbeat.relaying.bytes_per_s = relay_bytes_per_s_;
  const int mapped = port_mapper_ != nullptr ? port_mapper_->mapping().port : 0;
  if (mapped != 0) heartbeat.listen_port = mapped;
}

void Reach::follow(const wire::HeartbeatReply& reply) {
  if (logged_ != reply.seen.reachability) {
    const char* const may = reply.seen.reachability == wire::Reachability::reachable ? "can"
                            : reply.seen.reachability == wire::Reachability::blocked ? "cannot"
                                                                                     : "may or may not be able to";
    const std::string line =
        fmt::format("others {} dial this computer at {} port {}", may, reply.seen.address, network_.port());
    if (seen_.info(threads_.now(), line)) logged_ = reply.seen.reachability;
  }
  known_ = true;
  reachability_ = reply.seen.reachability;
  address_ = reply.seen.address;
  keep_port_open();
  if (const Status posted = network_.post_at(reply.relaying.at, [this] { announce_change(); }); !posted.ok()) {
    unposted_.warning(threads_.now(), posted.error().message);
  }
  // The coordinator may not have heard yet that this computer relays for nobody any more.
  const bool relays = relay_bytes_per_s_ > 0;
  network_.relay_for({relays ? reply.relaying.clients : std::vector<PeerId>(), reply.round,
                      reply.relaying.bytes_per_round, relay_bytes_per_s_});
}

// The router is asked only where others cannot dial this computer without. The port stays open until the run ends, or
// is no longer allowed.
void Reach::keep_port_open() {
  const int port = network_.port();
  if (!port_mapping_ && port_mapper_ != nullptr) port_mapper_->close();
  if (port_mapper_ != nullptr && port_mapper_->closed()) port_mapper_.reset();
  if (!port_mapping_ || port_mapper_ != nullptr || port == 0) return;
  if (reachability_ != wire::Reachability::blocked) return;
  port_mapper_ = std::make_unique<transport::PortMapper>(transport::PortMapperOptions{.port = port},
                                                         [this] { announce_change(); });
}

// From the threads of the network and of the mapper.
void Reach::announce_change() { threads_.deliver(changed_); }

void Reach::describe(const transport::NetworkStats& stats, wire::ReachStatus& reach) const {
  if (known_) reach.reachability = std::string(wire::to_string(reachability_));
  reach.address = address_;
  reach.relay = stats.relay.posted_at.value_or(PeerId{});
  reach.relay_problem = stats.relay.problem;
  if (port_mapper_ != nullptr) {
    const transport::PortMapping mapping = port_mapper_->mapping();
    reach.mapped_port = mapping.port;
    reach.mapped_by = mapping.method;
    reach.mapping_problem = mapping.problem;
  }
  reach.links_relayed = static_cast<std::int64_t>(stats.links_relayed);
  reach.clients = static_cast<std::int64_t>(stats.relay.serving.posts);
  reach.streams = static_cast<std::int64_t>(stats.relay.serving.streams);
  reach.bytes = stats.relay.serving.bytes_total;
}

}  // namespace starling::daemon
