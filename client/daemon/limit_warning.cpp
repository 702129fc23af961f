#include "client/daemon/limit_warning.h"

#include <fmt/core.h>

#include "shared/net/line.h"
#include "shared/swarm/roles.h"

namespace starling::daemon {

std::string limit_warning(const ExchangeNeeds& needs, double upload_bytes_per_s, double download_bytes_per_s) {
  if (needs.swarm_size < 2 || needs.batch_s <= 0) return "";
  const wire::RoundTraffic& traffic = needs.traffic;
  const double sent =
      swarm::narrower_codecs(traffic.contribution_codec, traffic.narrows_contributions).back().bytes_per_float;
  const double received = swarm::narrower_codecs(traffic.codec, false).front().bytes_per_float;
  const double floats = static_cast<double>(traffic.floats) * net::kOnTheLine;
  const double seconds = (upload_bytes_per_s > 0 ? floats * sent / upload_bytes_per_s : 0) +
                         (download_bytes_per_s > 0 ? floats * received / download_bytes_per_s : 0);
  if (seconds <= needs.batch_s) return "";
  return fmt::format(
      "These limits are too low for this run: what one round sends and receives takes {:.0f} s at least, and the "
      "others "
      "compute for {:.0f} s. This computer will be left out of most rounds.",
      seconds, needs.batch_s);
}

}  // namespace starling::daemon
