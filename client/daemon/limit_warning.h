// Tells whether a volunteer's limits leave a run enough of the line.
#pragma once

#include <string>

#include "shared/run/round_parts.h"

namespace starling::daemon {

struct ExchangeNeeds {
  wire::RoundTraffic traffic;
  double batch_s = 0;  // time until all members together have computed a batch; 0: not known
  int swarm_size = 0;
};

// Returns a sentence for the volunteer if sending and receiving a round's bytes, as narrow as plans make them, takes
// longer than the swarm computes for it: then such a member is left out of most rounds. Bytes/s; 0: no limit.
std::string limit_warning(const ExchangeNeeds& needs, double upload_bytes_per_s, double download_bytes_per_s);

}  // namespace starling::daemon
