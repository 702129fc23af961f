#include "shared/swarm/hourly_traffic.h"

#include <doctest/doctest.h>

#include "shared/run/cells.h"
#include "shared/run/round_parts.h"

using namespace starling;
using namespace starling::swarm;

namespace {

wire::RunManifest run_of_experts() {
  wire::RunManifest manifest;
  manifest.model = {.architecture = wire::Architecture::decoder, .layers = 4, .width = 512, .heads = 8, .context = 100};
  manifest.model.mlp_width = 1024;
  manifest.model.experts.rows = 8;
  manifest.model.experts.active = 2;
  manifest.model.experts.cells.experts = 4;
  manifest.target_batch_size = 100;
  return manifest;
}

}  // namespace

TEST_CASE("a whole model's hour is its rounds, and nobody averages alone") {
  wire::RunManifest manifest;
  manifest.target_batch_size = 256;
  const wire::RoundTraffic traffic = wire::round_traffic(manifest);
  const HourlyTraffic hour = hourly_traffic(manifest, {.samples_per_s = 2.56, .members = 4});
  CHECK(hour.rounds ==
        doctest::Approx(36.0 * static_cast<double>(traffic.contribution_bytes() + traffic.result_bytes())));
  CHECK(hour.calls == 0);
  CHECK(hourly_traffic(manifest, {.samples_per_s = 2.56, .members = 1}).all() == 0);
  CHECK(hourly_traffic(manifest, {.samples_per_s = 0, .members = 4}).all() == 0);
  CHECK(hourly_traffic(manifest, {}).all() == 0);
}

TEST_CASE("a model in cells moves activations for each sample, and each cell is averaged by its holders") {
  wire::RunManifest manifest = run_of_experts();
  // 4 k d L' bytes a token in int8, and a scale for each block.
  const double floor = 4.0 * 2 * 512 * 4 * 100;
  CHECK(call_bytes_per_sample(manifest) >= floor);
  CHECK(call_bytes_per_sample(manifest) < 1.05 * floor);
  const HourlyTraffic hour = hourly_traffic(manifest, {.samples_per_s = 10, .members = 20});
  CHECK(hour.calls == doctest::Approx(1800 * call_bytes_per_sample(manifest)));
  wire::RunManifest sole = manifest;
  sole.model.experts.cells.holders = 1;
  const double trunk = hourly_traffic(sole, {.samples_per_s = 10, .members = 20}).rounds;
  CHECK(trunk > 0);
  CHECK(hour.rounds > trunk);
  // Eight cells with two holders each are 0.8 cells for each of twenty members.
  const auto cell = static_cast<double>(wire::round_traffic(wire::piece_of(manifest, 0)).contribution_bytes() +
                                        wire::round_traffic(wire::piece_of(manifest, 0)).result_bytes());
  CHECK(hour.rounds - trunk == doctest::Approx(360 * 0.8 * cell));
}
