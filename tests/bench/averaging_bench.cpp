#include "tests/bench/averaging_bench.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <sstream>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/files.h"
#include "shared/crypto/certificates.h"
#include "shared/crypto/keys.h"
#include "tests/bench/process_pool.h"
#include "tests/support/temp_dir.h"

namespace starling::bench {
namespace {

using Children = std::vector<std::unique_ptr<ChildProcess>>;

// What a round cost: wall time from the word to the last peer's answer, CPU and memory of all.
struct Round {
  double seconds = 0;
  double cpu_seconds = 0;      // of all peers together
  double extra_bytes_max = 0;  // of the peer that needed most, beyond its input
  bool correct = true;
};

Status write_identities(const std::filesystem::path& folder, int peers) {
  const WallTime now = SystemClock().wall_now();
  STARLING_ASSIGN(const auto authority, crypto::CertificateAuthority::create("bench", now));
  STARLING_TRY(write_file_atomically(folder / "ca.pem", authority.certificate_pem()));
  for (int rank = 0; rank < peers; ++rank) {
    const auto key = crypto::PrivateKey::generate();
    crypto::IssueOptions issue;
    issue.now = now;
    STARLING_ASSIGN(const std::string certificate, authority.issue(crypto::make_csr(key), issue));
    STARLING_TRY(write_file_atomically(folder / fmt::format("{}.key", rank), key.to_pem(), {.mode = 0600}));
    STARLING_TRY(write_file_atomically(folder / fmt::format("{}.pem", rank), certificate));
  }
  return {};
}

Result<Children> start_children(const std::string& command, const AveragingOptions& options,
                                const std::filesystem::path& folder) {
  Children children;
  for (int rank = 0; rank < options.peers; ++rank) {
    STARLING_ASSIGN(auto child,
                    ChildProcess::start({command, "--rank", std::to_string(rank), "--peers",
                                         std::to_string(options.peers), "--floats", std::to_string(options.floats),
                                         "--codec", options.codec, "--folder", folder.string()}));
    children.push_back(std::move(child));
  }
  return children;
}

// Tells all children `command` and collects their answers.
Result<std::vector<std::string>> ask_all(Children& children, const std::string& command) {
  for (auto& child : children) STARLING_TRY(child->send(command));
  std::vector<std::string> answers;
  for (auto& child : children) {
    STARLING_ASSIGN(std::string line, child->receive());
    answers.push_back(std::move(line));
  }
  return answers;
}

Result<Round> run_round(Children& children, const std::string& command) {
  const auto began = std::chrono::steady_clock::now();
  STARLING_ASSIGN(const std::vector<std::string> answers, ask_all(children, command));
  Round round;
  round.seconds = to_seconds(std::chrono::steady_clock::now() - began);
  STARLING_ASSIGN(const std::vector<std::string> costs, ask_all(children, "report"));
  for (const std::string& line : costs) {
    std::istringstream in(line);
    double cpu = 0;
    double extra = 0;
    int correct = 0;
    in >> cpu >> extra >> correct;
    round.cpu_seconds += cpu;
    round.extra_bytes_max = std::max(round.extra_bytes_max, extra);
    round.correct = round.correct && correct == 1;
  }
  return round;
}

// The peers' addresses become known only once all of them listen.
Status introduce(Children& children) {
  std::string everyone = "peers";
  for (auto& child : children) {
    STARLING_ASSIGN(const std::string port, child->receive());
    everyone += " " + port;
  }
  STARLING_ASSIGN([[maybe_unused]] const auto ready, ask_all(children, everyone));
  return {};
}

}  // namespace

Result<BenchResult> run_averaging_bench(const AveragingOptions& options) {
  const testing::TempDir folder;
  STARLING_TRY(write_identities(folder.path(), options.peers));
  STARLING_ASSIGN(Children ours, start_children("averaging-peer", options, folder.path()));
  STARLING_TRY(introduce(ours));
  STARLING_ASSIGN(Children gloo, start_children("gloo-peer", options, folder.path()));
  STARLING_TRY(introduce(gloo));

  std::vector<double> our_times;
  std::vector<double> gloo_times;
  std::vector<double> ratios;
  double cpu = 0;
  double extra = 0;
  bool correct = true;
  for (int round = -1; round < options.rounds; ++round) {  // the first one opens connections and is not counted
    STARLING_ASSIGN(const Round mine, run_round(ours, "average"));
    STARLING_ASSIGN(const Round ring, run_round(gloo, "ring_chunked"));
    STARLING_ASSIGN(const Round halving, run_round(gloo, "halving_doubling"));
    correct = correct && mine.correct && ring.correct && halving.correct;
    if (round < 0) continue;
    our_times.push_back(mine.seconds);
    gloo_times.push_back(std::min(ring.seconds, halving.seconds));
    ratios.push_back(mine.seconds / gloo_times.back());
    cpu += mine.cpu_seconds;
    extra = std::max(extra, mine.extra_bytes_max);
  }
  const double vector_bytes = static_cast<double>(options.floats) * sizeof(float);
  BenchResult result;
  result.settings = {
      {"peers", std::to_string(options.peers)},
      {"floats", std::to_string(options.floats)},
      {"codec", options.codec},
      {"rounds", std::to_string(options.rounds)},
      {"against", "Gloo AllreduceRingChunked and AllreduceHalvingDoubling, the faster in each round, no encryption"}};
  result.figures = {{"time_s", median(our_times)},
                    {"gloo_time_s", median(gloo_times)},
                    {"ratio_to_gloo", median(ratios)},
                    {"cpu_s_per_gb", cpu / options.rounds / options.peers / (vector_bytes / 1e9)},
                    {"extra_memory_ratio", extra / vector_bytes},
                    {"values_correct", correct ? 1.0 : 0.0}};
  return result;
}

}  // namespace starling::bench
