#include "tests/bench/joining_bench.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <optional>
#include <sstream>
#include <vector>

#include "shared/base/clock.h"
#include "shared/state/state_digest.h"
#include "tests/bench/averaging_group.h"
#include "tests/bench/bench_network.h"
#include "tests/bench/process_pool.h"

namespace starling::bench {
namespace {

constexpr int kWarmUps = 4;

class Joiners {
 public:
  static Result<std::unique_ptr<Joiners>> start(const AveragingOptions& options,
                                                const std::filesystem::path& identities, const netlab::Lab* lab,
                                                const std::string& members);
  // Returns when all of them have the first bytes.
  Status begin();
  struct Download {
    double seconds = 0;  // from begin()
    double bytes = 0;    // bytes of the last download
  };
  // Returns when all of them have the state.
  Result<Download> wait();

 private:
  std::vector<std::unique_ptr<ChildProcess>> children_;
  std::chrono::steady_clock::time_point began_;
};

Result<std::unique_ptr<Joiners>> Joiners::start(const AveragingOptions& options,
                                                const std::filesystem::path& identities, const netlab::Lab* lab,
                                                const std::string& members) {
  auto joiners = std::make_unique<Joiners>();
  for (int i = 0; i < options.joiners; ++i) {
    const int rank = options.peers + i;
    STARLING_ASSIGN(auto child, start_child("joiner", options, rank, identities, lab));
    STARLING_TRY(child->receive().status());  // it listens
    STARLING_TRY(child->send(members));
    STARLING_TRY(child->receive().status());
    joiners->children_.push_back(std::move(child));
  }
  return joiners;
}

Status Joiners::begin() {
  began_ = std::chrono::steady_clock::now();
  for (auto& child : children_) STARLING_TRY(child->send("join"));
  for (auto& child : children_) STARLING_TRY(child->receive().status());
  return {};
}

Result<Joiners::Download> Joiners::wait() {
  Download download;
  for (auto& child : children_) {
    STARLING_ASSIGN(const std::string line, child->receive());
    std::string word;
    std::istringstream words(line);
    if (!(words >> word >> download.bytes) || word != "done") {
      return Error{ErrorCode::internal, "a joiner: " + line};
    }
  }
  download.seconds = to_seconds(std::chrono::steady_clock::now() - began_);
  return download;
}

}  // namespace

Result<BenchResult> measure_joining(const AveragingOptions& options, const std::filesystem::path& identities,
                                    const netlab::Lab* lab) {
  STARLING_ASSIGN(const auto group, AveragingGroup::start("averaging-peer", options, identities, lab));
  STARLING_ASSIGN(const auto joiners, Joiners::start(options, identities, lab, group->endpoints()));
  std::vector<double> alone;
  std::vector<double> joined;
  std::vector<double> slower;
  std::vector<double> downloads;
  double bytes = 0;
  bool correct = true;
  const auto average = [&]() -> Result<double> {
    STARLING_ASSIGN(const AveragingRound round, group->run_round("average"));
    correct = correct && round.correct && round.identical && round.expelled == 0;
    if (lab != nullptr) STARLING_TRY(group->share_speeds());
    return round.seconds;
  };
  for (int i = 0; i < kWarmUps; ++i) STARLING_TRY(average().status());
  for (int i = 0; i < options.rounds; ++i) {
    STARLING_ASSIGN(const double by_itself, average());
    STARLING_TRY(joiners->begin());
    STARLING_ASSIGN(const double with_joiners, average());
    STARLING_ASSIGN(const Joiners::Download download, joiners->wait());
    if (download.seconds < with_joiners) {
      return Error{ErrorCode::failed_precondition, "the downloads ended before the round: a larger --state-floats"};
    }
    alone.push_back(by_itself);
    joined.push_back(with_joiners);
    slower.push_back(with_joiners / by_itself);
    downloads.push_back(download.seconds);
    bytes = download.bytes;
  }
  BenchResult result;
  result.figures = {{"time_s", median(alone)},
                    {"joined_time_s", median(joined)},
                    {"joined_ratio", median(slower)},
                    {"round_ratio", (options.batch_s + median(joined)) / (options.batch_s + median(alone))},
                    {"download_s", median(downloads)},
                    {"download_mb", bytes / 1e6},
                    {"values_correct", correct ? 1.0 : 0.0}};
  result.series = {{"time_s", alone}, {"joined_time_s", joined}, {"joined_ratio", slower}, {"download_s", downloads}};
  return result;
}

namespace {

// Answers "begun" at the first bytes, and "done" or the error at the end.
Status download(transport::PeerNetwork& network, transport::StateFetch fetch) {
  std::promise<void> begun;
  std::promise<Status> ended;
  bool told = false;
  std::int64_t bytes = 0;
  fetch.progress = [&](const transport::StateProgress& progress) {
    bytes = progress.bytes_received;
    if (!std::exchange(told, true)) begun.set_value();
  };
  fetch.done = [&](const Status& status) {
    if (!std::exchange(told, true)) begun.set_value();
    ended.set_value(status);
  };
  STARLING_TRY(network.fetch_state(std::move(fetch)).status());
  begun.get_future().wait();
  answer("begun");
  const Status status = ended.get_future().get();
  answer(status.ok() ? fmt::format("done {}", bytes) : status.error().message);
  return {};
}

Status run(const AveragingChild& child) {
  SystemClock clock;
  STARLING_ASSIGN(const std::vector<PeerId> members, members_of(home_of(child)));
  const auto nothing = [](RoundIndex, const Digest&) { return nullptr; };
  STARLING_ASSIGN(const auto network, open_network(home_of(child), clock, nothing));
  std::vector<float> state = bench_state(child.bench.state_floats);
  transport::StateFetch fetch;
  fetch.state_digest = state::state_digest(state);
  fetch.out = state;
  fetch.form = bench_form(child.bench);
  answer("ready");
  std::istringstream endpoints(read_command());
  std::string verb;
  endpoints >> verb;
  for (const PeerId& member : members) {
    wire::Endpoint& donor = fetch.donors.emplace_back(wire::Endpoint{member, "", 0});
    endpoints >> donor.host >> donor.port;
  }
  answer("done");
  while (!read_command().empty()) {
    std::fill(state.begin(), state.end(), 0.0F);
    STARLING_TRY(download(*network, fetch));
  }
  return {};
}

}  // namespace

int run_joiner(const AveragingChild& child) {
  const Status status = run(child);
  if (status.ok()) return 0;
  std::fprintf(stderr, "joiner %d: %s\n", child.rank, status.error().message.c_str());
  return 1;
}

}  // namespace starling::bench
