// The peer to compare with: Gloo's CPU all-reduce over plain TCP. The only file that includes Gloo.
#include <fmt/core.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "tests/bench/averaging_bench.h"
#include "tests/bench/process_pool.h"

namespace starling::bench {
namespace {

class GlooPeer {
 public:
  explicit GlooPeer(const AveragingChild& child)
      : child_(child), values_(static_cast<std::size_t>(child.bench.floats)) {
    gloo::transport::tcp::attr attributes;
    attributes.hostname = child.address;
    auto device = gloo::transport::tcp::CreateDevice(attributes);
    gloo::rendezvous::FileStore store(child.folder.string());
    context_ = std::make_shared<gloo::rendezvous::Context>(child.rank, child.bench.peers);
    context_->setTimeout(std::chrono::hours(1));  // over a slow link a piece may take longer than the default of 30 s
    context_->connectFullMesh(store, device);
    const int count = static_cast<int>(values_.size());
    const std::vector<float*> pointers{values_.data()};
    ring_ = std::make_unique<gloo::AllreduceRingChunked<float>>(context_, pointers, count);
    halving_ = std::make_unique<gloo::AllreduceHalvingDoubling<float>>(context_, pointers, count);
    fill();
  }

  void run(const std::string& algorithm) {
    const double cpu_before = cpu_seconds();
    if (algorithm == "ring_chunked") {
      ring_->run();
    } else {
      halving_->run();
    }
    cpu_ = cpu_seconds() - cpu_before;
  }

  // Also prepares the next run, which works in place.
  std::string report() {
    bool correct = true;
    for (std::size_t k = 0; k < values_.size(); ++k) {
      const double mean = values_[k] / child_.bench.peers;
      const double expected = bench_mean(child_.bench.peers, static_cast<std::int64_t>(k));
      correct = correct && std::abs(mean - expected) <= 1e-6 * expected;
    }
    fill();
    return fmt::format("{:.6f} 0 1 {:d} unknown 1", cpu_, correct);
  }

 private:
  void fill() {
    for (std::size_t k = 0; k < values_.size(); ++k) {
      values_[k] = bench_value(child_.rank, static_cast<std::int64_t>(k));
    }
  }

  AveragingChild child_;
  std::vector<float> values_;
  std::shared_ptr<gloo::rendezvous::Context> context_;
  std::unique_ptr<gloo::AllreduceRingChunked<float>> ring_;
  std::unique_ptr<gloo::AllreduceHalvingDoubling<float>> halving_;
  double cpu_ = 0;
};

}  // namespace

int run_gloo_peer(const AveragingChild& child) {
  try {
    GlooPeer peer(child);
    answer("0");
    for (std::string command = read_command(); !command.empty(); command = read_command()) {
      if (command == "report") {
        answer(peer.report());
        continue;
      }
      if (command.rfind("peers", 0) != 0) peer.run(command);
      answer("done");
    }
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "gloo peer %d: %s\n", child.rank, problem.what());
    return 1;
  }
  return 0;
}

}  // namespace starling::bench
