// How others reach this computer: the port at the router, the relay at which it can be called, and its relaying for
// members that nobody can call. It follows the coordinator's word and the volunteer's permission. Nothing here waits
// for the router. Control thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "client/daemon/permission.h"
#include "client/daemon/run_threads.h"
#include "client/transport/peer_network.h"
#include "client/transport/port_mapper.h"
#include "shared/base/clock.h"
#include "shared/base/limited_log.h"
#include "shared/control/control.h"
#include "shared/protocol/states.h"

namespace starling::wire {
struct Heartbeat;
struct HeartbeatReply;
}  // namespace starling::wire

namespace starling::daemon {

class Reach {
 public:
  // `changed` is an event: the coordinator should hear of a change soon. `threads` outlives this object; `network` is
  // not used after the run was stopped.
  Reach(RunThreads& threads, transport::PeerNetwork& network, std::function<void(TimePoint now)> changed);

  void obey(const Permission& permission);
  // Fills in the heartbeat's fields about calling this computer.
  void tell(wire::Heartbeat& heartbeat) const;
  // Does what the reply requests.
  void follow(const wire::HeartbeatReply& reply);
  // `stats` are the network's of now.
  void describe(const transport::NetworkStats& stats, wire::ReachStatus& reach) const;
  // Asks the router to close the port, and waits for it: a few seconds at most. After the run was stopped, on whichever
  // thread may wait.
  void close() { port_mapper_.reset(); }

 private:
  void keep_port_open();
  void announce_change();

  RunThreads& threads_;
  transport::PeerNetwork& network_;
  const std::function<void(TimePoint now)> changed_;
  std::unique_ptr<transport::PortMapper> port_mapper_;  // null until others cannot dial this computer
  bool port_mapping_ = false;
  double relay_bytes_per_s_ = 0;
  wire::Reachability reachability_ = wire::Reachability::unknown;
  bool known_ = false;                        // the coordinator has reported it
  std::string address_;                       // this computer's, as the coordinator sees it
  std::optional<wire::Reachability> logged_;  // the last one that the log tells
  LimitedLog seen_;
  LimitedLog unposted_;
};

}  // namespace starling::daemon
