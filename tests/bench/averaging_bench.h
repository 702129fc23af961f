// starling-bench averaging: N local processes average a vector over mutual TLS, over loopback or over shaped links.
// They are compared with the best of Gloo's two CPU algorithms in processes of their own (unencrypted), round by round
// in turn, and with the links' bound.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "shared/base/result.h"
#include "tests/bench/bench.h"

namespace starling::bench {

struct AveragingOptions {
  int peers = 4;
  std::int64_t floats = 16 << 20;
  std::string codec = "fp32";
  // The bound on contributions, by the word of a run manifest. With a center, which is zero, values are not means.
  std::string aggregation = "clipped";
  bool audited = false;  // owners measure contributions (client/averaging/part_sketches.h)
  int rounds = 5;
  // Shaped links, one per peer (netlab/link_spec.h); empty: loopback.
  std::string links;
  double loss_percent = 0;  // loss of frames between two peers
  // TCP's congestion control, also for our links; empty: the system's, and bbr for our long links.
  std::string congestion;
  bool gloo = false;  // compare over shaped links too; over loopback it always runs
  // Over shaped links: time that the peers together compute between two averagings. It decides the value of a slow
  // peer's samples, and whether its results may come in later. 0: all peers do equal work, however slow.
  double batch_s = 30;
  double rest_s = 0;  // before each round, with links idle, as while the peers of a run compute
  double step_s = 0;  // above 0: steps of training with this much computing, in place of averagings (overlap_bench.h)
  std::string fault;  // fault of one peer in each round: kill, stop, cut, deaf or mute
  int joiners = 0;    // further peers that download a state from the others in every second round
  std::int64_t state_floats = 12 << 20;
  std::string moments = "fp32";  // form of the moments, which are the latter two thirds of that state
};

// Figures bound_s, ratio_to_bound, survivors_identical, values_correct and recovery_s are always present.
Result<BenchResult> run_averaging_bench(const AveragingOptions& options);

// A child process's command line.
struct AveragingChild {
  int rank = 0;
  AveragingOptions bench;
  std::string address = "127.0.0.1";
  std::filesystem::path folder;  // certificates and keys, or Gloo's rendezvous
};
// Child processes; they end when their standard input does.
int run_averaging_peer(const AveragingChild& child);
int run_gloo_peer(const AveragingChild& child);

// A deferred peer's answer to the command to average: it goes on, and is asked to finish later.
constexpr std::string_view kDeferredAnswer = "deferred";

// Coordinate k of a rank's input, and of the mean of all ranks' inputs.
inline float bench_value(int rank, std::int64_t k) { return static_cast<float>((rank + 1) * (1 + k % 7)); }
inline float bench_mean(int peers, std::int64_t k) {
  return static_cast<float>(0.5 * (peers + 1) * static_cast<double>(1 + k % 7));
}

}  // namespace starling::bench
