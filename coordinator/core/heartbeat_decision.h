// The coordinator's answer to a heartbeat, and what has to be done with it.
#pragma once

#include <optional>
#include <vector>

#include "coordinator/core/types.h"
#include "shared/base/result.h"
#include "shared/protocol/heartbeat_reply.h"

namespace starling::core {

// The consequences of a heartbeat.
struct HeartbeatDecision {
  std::optional<Error> refusal;  // instead of the reply: another run (not_found), no lane free (resource_exhausted)
  wire::HeartbeatReply reply;
  std::vector<StoreOp> ops;
  std::optional<wire::Endpoint> dial_back;  // an endpoint to dial once; on_dialled_back takes the result
};

}  // namespace starling::core
