// A leg of client/rounds as the network wants it.
#pragma once

#include "client/rounds/leg.h"
#include "client/transport/peer_network.h"
#include "shared/base/clock.h"

namespace starling::daemon {

// The averaging begins at `start`; the vectors stay those of the leg. `done` is unset.
transport::AverageRequest average_request(const rounds::Leg& leg, TimePoint start);

}  // namespace starling::daemon
