#include "shared/swarm/hourly_traffic.h"

#include <algorithm>

#include "shared/run/cells.h"
#include "shared/run/round_parts.h"
#include "shared/wire/codec.h"

namespace starling::swarm {
namespace {

constexpr double kSecondsAnHour = 3600;

// A member sends its contribution to the others' parts, and the results of its own part to each of them.
double round_bytes(const wire::RunManifest& manifest) {
  const wire::RoundTraffic traffic = wire::round_traffic(manifest);
  return static_cast<double>(traffic.contribution_bytes() + traffic.result_bytes());
}

// A usual member sends this in a round, for the trunk and its share of the cells.
double round_bytes_of_member(const wire::RunManifest& manifest, double members) {
  if (!wire::has_cells(manifest.model)) return round_bytes(manifest);
  double bytes = round_bytes(wire::piece_of(manifest, wire::kTrunk));
  const double holders = std::min<double>(manifest.model.experts.cells.holders, members);
  if (holders < 2) return bytes;
  const std::size_t cells = wire::cells_of(manifest.model).size();
  for (std::size_t cell = 0; cell < cells; ++cell) {
    bytes += round_bytes(wire::piece_of(manifest, static_cast<wire::CellIndex>(cell))) * holders / members;
  }
  return bytes;
}

}  // namespace

double call_bytes_per_sample(const wire::RunManifest& manifest) {
  const wire::ModelOptions& model = manifest.model;
  if (!wire::has_cells(model)) return 0;
  const auto width = static_cast<std::size_t>(model.width);
  const auto a_token = static_cast<double>(wire::encoded_bytes(model.experts.cells.codec, width));
  const double layers = static_cast<double>(wire::layers_with_experts(model).size());
  // A token's input and its results' gradient to each expert; its result and the input's gradient from each.
  return 4 * a_token * model.experts.active * layers * model.context;
}

HourlyTraffic hourly_traffic(const wire::RunManifest& manifest, const SwarmPace& pace) {
  HourlyTraffic traffic;
  if (!(pace.samples_per_s > 0) || !(pace.members >= 1) || manifest.target_batch_size < 1) return traffic;
  const double samples = pace.samples_per_s * kSecondsAnHour;
  traffic.calls = samples / pace.members * call_bytes_per_sample(manifest);
  if (pace.members < 2) return traffic;
  const double rounds = samples / static_cast<double>(manifest.target_batch_size);
  traffic.rounds = rounds * round_bytes_of_member(manifest, pace.members);
  return traffic;
}

}  // namespace starling::swarm
