// starling-bench averaging: N local processes average a vector over mutual TLS, over loopback or over shaped links,
// against the best of Gloo's two CPU algorithms in processes of their own (unencrypted), round by round in turn, and
// against what the links allow.
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
  int rounds = 5;
  // Shaped links, one a peer (netlab/link_spec.h); empty: loopback.
  std::string links;
  double loss_percent = 0;  // of frames between two peers
  std::string congestion;   // what TCP uses, ours included; empty: the system's choice, bbr for ours that go far
  bool gloo = false;        // over shaped links too; over loopback it always runs
  // Over shaped links: how long the peers together compute between two averagings. Decides what a slow one's samples
  // are worth, and whether there is time for its results to come in later. 0: everybody does the same, however slow.
  double batch_s = 30;
  double rest_s = 0;  // before each round, in which links carry nothing: while peers of a run compute
  double step_s = 0;  // above 0: steps of training in place of averagings (overlap_bench.h), with so much computing
  std::string blow;   // that one peer takes in each round: kill, stop, cut, deaf or mute
  int joiners = 0;    // beside the peers, that download a state from these in every second round
  std::int64_t state_floats = 12 << 20;
  std::string moments = "fp32";  // of that state: the latter two thirds of it
};

// Figures bound_s, ratio_to_bound, survivors_identical, values_correct and recovery_s are there whatever was measured.
Result<BenchResult> run_averaging_bench(const AveragingOptions& options);

// What a child process is told on its command line.
struct AveragingChild {
  int rank = 0;
  AveragingOptions bench;
  std::string address = "127.0.0.1";
  std::filesystem::path folder;  // certificates and keys, or Gloo's meeting place
};
// Child processes; they end when their standard input does.
int run_averaging_peer(const AveragingChild& child);
int run_gloo_peer(const AveragingChild& child);

// A deferred peer's answer to the word to average: it goes on, and is asked to finish later.
constexpr std::string_view kDeferredAnswer = "deferred";

// Coordinate k of a rank's input, and of the mean of all ranks' inputs.
inline float bench_value(int rank, std::int64_t k) { return static_cast<float>((rank + 1) * (1 + k % 7)); }
inline float bench_mean(int peers, std::int64_t k) {
  return static_cast<float>(0.5 * (peers + 1) * static_cast<double>(1 + k % 7));
}

}  // namespace starling::bench
