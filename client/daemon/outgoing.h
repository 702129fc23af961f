// Hooks for messages that a run is about to send. The product sends them unchanged. A test's own daemon may change them
// first, to find out what a volunteer that lies can do.
#pragma once

#include <functional>

#include "client/transport/peer_network.h"

namespace starling::wire {
struct Heartbeat;
}

namespace starling::daemon {

// Each is called on the sending thread, right before; empty: nothing is changed.
struct Outgoing {
  std::function<void(wire::Heartbeat&)> heartbeat;               // to the coordinator
  std::function<void(transport::AverageRequest&)> contribution;  // to the group of a round
};

}  // namespace starling::daemon
