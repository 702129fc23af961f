// Tells whether a volunteer's limits leave a run enough of the line.
#pragma once

#include <cstddef>
#include <string>

namespace starling::daemon {

struct ExchangeNeeds {
  double vector_floats = 0;
  std::string codec;               // codec of results
  std::string contribution_codec;  // empty: like codec
  bool error_feedback = false;
  double batch_s = 0;  // time until all members together have computed a batch; 0: not known
  int swarm_size = 0;
};

// Returns a sentence for the volunteer if sending and receiving a round's bytes, as narrow as plans make them, takes
// longer than the swarm computes for it: then such a member is left out of most rounds. Bytes/s; 0: no limit.
std::string limit_warning(const ExchangeNeeds& needs, double upload_bytes_per_s, double download_bytes_per_s);

}  // namespace starling::daemon
