// The reachability of this computer for others, and its relaying for members that nobody can call.
#include "client/daemon/project_run.h"
#include "client/daemon/run_parts.h"
#include "shared/base/log.h"
#include "shared/protocol/heartbeat.h"

namespace starling::daemon {

void ProjectRun::tell_reach(wire::Heartbeat& heartbeat) const {
  const transport::RelayView relay = parts_->network->stats().relay;
  heartbeat.posted_at = relay.posted_at.value_or(PeerId{});
  heartbeat.relay_bytes_per_s = relay_bytes_per_s_;
  const int mapped = parts_->port_mapper != nullptr ? parts_->port_mapper->mapping().port : 0;
  if (mapped != 0) heartbeat.listen_port = mapped;
}

void ProjectRun::follow_reach(const wire::HeartbeatReply& reply) {
  if (!reach_known_ || reply.reachability != reachability_) {
    log_info("others {} dial this computer at {} port {}",
             reply.reachability == wire::Reachability::reachable ? "can"
             : reply.reachability == wire::Reachability::blocked ? "cannot"
                                                                 : "may or may not be able to",
             reply.address, parts_->network->port());
  }
  reach_known_ = true;
  reachability_ = reply.reachability;
  address_ = reply.address;
  keep_port_open();
  const auto changed = [this] { deliver([this](TimePoint now) { parts_->session->tell_soon(now); }); };
  if (const Status posted = parts_->network->post_at(reply.relaying.at, changed); !posted.ok()) {
    log_warning("{}", posted.error().message);
  }
  // The coordinator may not have heard yet that this computer relays for nobody any more.
  const bool relays = relay_bytes_per_s_ > 0;
  parts_->network->relay_for({relays ? reply.relaying.clients : std::vector<PeerId>(), reply.round,
                              reply.relaying.bytes_per_round, relay_bytes_per_s_});
}

// Asks the router to open a port only where others cannot dial this computer without. The port stays open until the run
// ends, or is no longer allowed. Nothing here waits for the router.
void ProjectRun::keep_port_open() {
  if (stopped_) return;  // the mapper is closed on another thread
  const int port = parts_->network->port();
  if (!port_mapping_ && parts_->port_mapper != nullptr) parts_->port_mapper->close();
  if (parts_->port_mapper != nullptr && parts_->port_mapper->closed()) parts_->port_mapper.reset();
  if (!port_mapping_ || parts_->port_mapper != nullptr || port == 0) return;
  if (reachability_ != wire::Reachability::blocked) return;
  const auto changed = [this] { deliver([this](TimePoint now) { parts_->session->tell_soon(now); }); };
  parts_->port_mapper = std::make_unique<transport::PortMapper>(transport::PortMapperOptions{.port = port}, changed);
}

void ProjectRun::describe_reach(const transport::NetworkStats& stats, wire::ReachStatus& reach) const {
  if (reach_known_) reach.reachability = std::string(wire::to_string(reachability_));
  reach.address = address_;
  reach.relay = stats.relay.posted_at.value_or(PeerId{});
  reach.relay_problem = stats.relay.problem;
  if (parts_->port_mapper != nullptr) {
    const transport::PortMapping mapping = parts_->port_mapper->mapping();
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
