#include "tests/sim/departures.h"

#include <fmt/format.h>

#include "shared/swarm/runtime_model.h"
#include "tests/sim/quadratic_problem.h"
#include "tests/sim/statistics.h"
#include "tests/sim/swarm.h"
#include "tests/sim/swarm_manifest.h"

namespace starling::sim {
namespace {

constexpr int kPeers = 6;
constexpr double kSamplesPerS = 20;
constexpr double kMbitPerS = 20;
constexpr double kWayMs = 10;  // one way, from one to another
// Time until others have made up for a killed process, at the median (docs/averaging.md).
constexpr double kKilledRecoverySeconds = 0.24;

SwarmOptions options_of(const DeparturesSetting& setting, std::uint64_t seed) {
  SwarmOptions options;
  options.seed = seed;
  options.algorithm = setting.algorithm;
  options.peers = kPeers;
  options.samples_per_s_min = options.samples_per_s_max = kSamplesPerS;
  options.upload_mbit_min = options.upload_mbit_max = kMbitPerS;
  options.latency_ms_min = options.latency_ms_max = kWayMs;
  options.target_batch_size = static_cast<SampleCount>(setting.round_s * kSamplesPerS * kPeers);
  options.calls_delayed = options.calls_lost = 0;
  options.seconds_between_faults = 0;
  options.seconds_between_kills = setting.seconds_between_kills;
  options.kills_reset = !setting.without_a_word;
  options.length = std::chrono::minutes(20);
  return options;
}

// Returns the prediction of a plan.
double predict(const SwarmOptions& options, const wire::RunManifest& manifest, double departures_per_s) {
  constexpr double kBytesPerS = kMbitPerS * 1e6 / 8;
  const swarm::Host host{{kBytesPerS, kBytesPerS, true}, kSamplesPerS, kWayMs / 2000, 0, departures_per_s};
  swarm::Method method;
  method.vector_floats = options.parameters;
  method.state_bytes = options.parameters * sizeof(float);
  method.newcomer_s = kDownSecondsMean;
  if (options.kills_reset) method.recovery_s = kKilledRecoverySeconds;
  method.round_samples = static_cast<double>(options.target_batch_size);
  method.micro_batch = static_cast<double>(kMicroBatch);
  if (wire::gossips(manifest.local)) method.gossip_members = 2;
  const swarm::RoundForecast round = swarm::predict_round(std::vector<swarm::Host>(kPeers, host), method);
  return round.samples / round.period_s();
}

}  // namespace

std::vector<DeparturesSetting> departures_settings() {
  std::vector<DeparturesSetting> settings;
  for (const double round_s : {1.0, 5.0, 20.0}) {
    for (const double kill_s : {30.0, 10.0, 5.0}) {
      settings.push_back(
          {fmt::format("rounds of {:g} s, a kill every {:g} s", round_s, kill_s), "dedloc", round_s, kill_s});
    }
  }
  for (const double round_s : {1.0, 5.0, 20.0}) {
    settings.push_back({fmt::format("rounds of {:g} s, a power cut every 10 s", round_s), "dedloc", round_s, 10, true});
  }
  for (const char* algorithm : {"diloco", "decentralized-adam"}) {
    settings.push_back({fmt::format("{}, rounds of 20 s, a kill every 10 s", algorithm), algorithm, 20, 10});
  }
  return settings;
}

Result<DeparturesResult> compare_departures(const DeparturesSetting& setting, std::uint64_t first_seed, int seeds) {
  std::vector<double> undisturbed;
  std::vector<double> with_kills;
  for (int i = 0; i < seeds; ++i) {
    const SwarmOptions options = options_of(setting, first_seed + static_cast<std::uint64_t>(i));
    STARLING_ASSIGN(const SwarmResult result, run_swarm(options));
    if (!result.broken.empty()) {
      return Error{ErrorCode::internal, fmt::format("{}, seed {}: {}", setting.name, options.seed, result.broken)};
    }
    undisturbed.push_back(result.samples_per_s_usual);
    with_kills.push_back(result.samples_per_s_kills);
  }
  const SwarmOptions options = options_of(setting, first_seed);
  STARLING_ASSIGN(const wire::RunManifest manifest, manifest_of(options));
  return DeparturesResult{{mean(undisturbed), predict(options, manifest, 0)},
                          {mean(with_kills), predict(options, manifest, 1 / setting.seconds_between_kills / kPeers)}};
}

}  // namespace starling::sim
