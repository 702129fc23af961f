// One peer of the averaging benchmark: the product's engine over the product's links.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <future>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "client/transport/peer_network.h"
#include "shared/run/buckets.h"
#include "shared/swarm/gossip_groups.h"
#include "shared/swarm/plan.h"
#include "tests/bench/averaging_bench.h"
#include "tests/bench/bench_network.h"
#include "tests/bench/process_pool.h"

namespace starling::bench {
namespace {

constexpr double kSamplesPerSecond = 100;  // equal for all peers: only the ratio to the batch matters
constexpr double kLargestFactor = 7;       // bench_value's, reached within a few coordinates of any
constexpr std::int64_t kLayers = 10;  // layers of equal length that the vector is split into when gossip uses buckets

std::vector<wire::Bucket> buckets_of(std::int64_t floats) {
  wire::ModelOptions model;
  model.architecture = wire::Architecture::script;
  for (std::int64_t layer = 0; layer < kLayers; ++layer) {
    model.script.tensors.push_back(
        {fmt::format("layer{}", layer), {floats * (layer + 1) / kLayers - floats * layer / kLayers}});
  }
  return wire::buckets(model);
}

class BenchPeer {
 public:
  static Result<std::unique_ptr<BenchPeer>> create(const AveragingChild& child);
  // Carries out a command of the parent and returns the answer.
  Result<std::string> obey(const std::string& command);
  [[nodiscard]] std::string endpoint() const { return fmt::format("{} {}", child_.address, network_->port()); }

 private:
  explicit BenchPeer(const AveragingChild& child) : child_(child) {}
  void meet(std::istringstream& endpoints);
  void learn_speeds(std::istringstream& speeds);
  // Begins a round, and ends it unless this peer is deferred in it: then finish() ends it.
  Result<std::string> average();
  // Begins gossip with the partner whose turn it is, for all buckets at once; the transfers of one step go on during
  // the next.
  Status begin_gossip();
  // Steps of training: compute_then_average() averages after computing, compute_beside_gossip() gossips meanwhile.
  Result<std::string> compute_then_average();
  Result<std::string> compute_beside_gossip();
  // Returns step_s after `from`, as if a graphics card had computed: this machine has too few cores for this many
  // peers.
  void compute(std::chrono::steady_clock::time_point from) const;
  Status finish();
  [[nodiscard]] swarm::PlanOptions plan_options() const;
  // An averaging of these coordinates that is under way, or is over.
  struct Averaging {
    wire::GroupInfo plan;
    std::size_t begin = 0;
    std::vector<int> seats;  // rank in this process's group, by rank in the plan
    std::future<averaging::AveragingOutcome> ended{};
    averaging::AveragingOutcome outcome{};
  };
  Result<transport::AverageRequest> request_for(const wire::GroupInfo& plan, std::size_t begin);
  // Waits for its end.
  void watch(Averaging& averaging, transport::AverageRequest& request);
  // Starts measuring the costs of the next commands.
  void begin_costs();
  [[nodiscard]] std::string report(int without) const;
  // Clears the output of a round that is over for all, so that it cannot be taken for the next one's.
  void forget_output();
  [[nodiscard]] std::string measured() const;
  // Whether every coordinate is the mean of the inputs of its reported contributors; of a mean around a center, whether
  // none is longer than the longest input's.
  [[nodiscard]] bool correct(const Averaging& averaging) const;
  [[nodiscard]] bool is_within_longest(const Averaging& averaging) const;
  // Number of coordinates that everybody except `without` is in.
  [[nodiscard]] static std::int64_t complete(const Averaging& averaging, int without);

  AveragingChild child_;
  SystemClock clock_;
  std::vector<wire::MemberInfo> members_;
  std::vector<Averaging> last_;  // one averaging; with gossip, one for each bucket
  std::vector<float> input_;
  std::vector<float> output_;
  std::vector<float> center_;  // empty, or zeros
  std::vector<float> state_floats_;
  std::shared_ptr<const transport::StateSnapshot> state_;  // for joiners
  std::unique_ptr<transport::PeerNetwork> network_;
  RoundIndex round_ = 0;
  std::vector<wire::Bucket> buckets_;
  std::vector<swarm::GossipGroups> gossips_;  // indexed by bucket
  double baseline_bytes_ = 0;
  double baseline_code_bytes_ = 0;
  double cpu_ = 0;
  double wakes_ = 0;
  double cpu_before_ = 0;
  double waited_before_ = 0;
};

Result<std::unique_ptr<BenchPeer>> BenchPeer::create(const AveragingChild& child) {
  std::unique_ptr<BenchPeer> peer(new BenchPeer(child));
  STARLING_ASSIGN(const std::vector<PeerId> members, members_of(home_of(child)));
  for (const PeerId& id : members) {
    wire::MemberInfo member;
    member.endpoint.peer = id;
    peer->members_.push_back(member);
  }
  if (child.bench.state_floats > 0) {
    peer->state_floats_ = bench_state(child.bench.state_floats);
    peer->state_ = std::make_shared<transport::StateSnapshot>(
        transport::snapshot_of(0, peer->state_floats_, bench_form(child.bench)));
  }
  const auto state_of = [state = peer->state_](RoundIndex, const Digest& digest) {
    return state != nullptr && state->digest == digest ? state : nullptr;
  };
  STARLING_ASSIGN(peer->network_, open_network(home_of(child), peer->clock_, state_of));
  peer->input_.resize(static_cast<std::size_t>(child.bench.floats));
  for (std::size_t k = 0; k < peer->input_.size(); ++k) {
    peer->input_[k] = bench_value(child.rank, static_cast<std::int64_t>(k));
  }
  peer->baseline_bytes_ = resident_bytes();
  peer->baseline_code_bytes_ = resident_code_bytes();
  peer->output_.resize(peer->input_.size());
  if (child.bench.aggregation == "centered-clip") peer->center_.resize(peer->input_.size());
  return peer;
}

void BenchPeer::meet(std::istringstream& endpoints) {
  for (wire::MemberInfo& member : members_) endpoints >> member.endpoint.host >> member.endpoint.port;
}

void BenchPeer::learn_speeds(std::istringstream& speeds) {
  for (wire::MemberInfo& member : members_) {
    speeds >> member.upload_bytes_per_s >> member.download_bytes_per_s;
    member.samples_per_s = kSamplesPerSecond;
  }
}

swarm::PlanOptions BenchPeer::plan_options() const {
  swarm::PlanOptions plan;
  plan.run_id = kBenchRun;
  plan.round = round_;
  plan.vector_floats = child_.bench.floats;
  plan.codec = wire::codec_from_name(child_.bench.codec).value();
  plan.error_feedback = true;
  plan.target_batch_size = static_cast<SampleCount>(kSamplesPerSecond * child_.bench.batch_s * child_.bench.peers);
  return plan;
}

Result<std::string> BenchPeer::average() {
  const wire::GroupInfo plan = swarm::plan_group(members_, plan_options());
  ++round_;
  last_.clear();
  STARLING_ASSIGN(transport::AverageRequest request, request_for(plan, 0));
  const wire::MemberRole role = plan.members[request.self].role;
  request.weight = role == wire::MemberRole::auxiliary ? 0 : 1;
  begin_costs();
  watch(last_.back(), request);
  STARLING_TRY(network_->average(std::move(request)));
  if (role == wire::MemberRole::deferred) return std::string(kDeferredAnswer);
  STARLING_TRY(finish());
  return std::string("done");
}

Result<transport::AverageRequest> BenchPeer::request_for(const wire::GroupInfo& plan, std::size_t begin) {
  transport::AverageRequest request;
  request.group = plan;
  request.self = plan.members.size();
  Averaging averaging{plan, begin, {}};
  for (const wire::GroupMember& planned : plan.members) {
    const auto here = std::find_if(members_.begin(), members_.end(), [&](const wire::MemberInfo& member) {
      return member.endpoint.peer == planned.endpoint.peer;
    });
    if (here - members_.begin() == child_.rank) request.self = averaging.seats.size();
    averaging.seats.push_back(static_cast<int>(here - members_.begin()));
  }
  if (request.self == plan.members.size()) return Error{ErrorCode::failed_precondition, "left out: " + plan.reason};
  const auto floats = static_cast<std::size_t>(plan.vector_floats);
  request.weight = 1;
  request.input = std::span(input_).subspan(begin, floats);
  request.output = std::span(output_).subspan(begin, floats);
  if (!center_.empty()) request.center = std::span(center_).subspan(begin, floats);
  if (child_.bench.audited) {
    request.group.audit_commitment.bytes.fill(1);
    request.engine.sketch_seed.bytes.fill(static_cast<std::uint8_t>(child_.rank + 1));
  }
  if (child_.bench.aggregation == "mean") request.engine.norm_ratio_max = 0;
  request.start = clock_.now();
  last_.push_back(std::move(averaging));
  return request;
}

void BenchPeer::watch(Averaging& averaging, transport::AverageRequest& request) {
  auto ended = std::make_shared<std::promise<averaging::AveragingOutcome>>();
  averaging.ended = ended->get_future();
  request.done = [ended](const averaging::AveragingOutcome& outcome) { ended->set_value(outcome); };
}

void BenchPeer::begin_costs() {
  cpu_before_ = cpu_seconds();
  waited_before_ = times_waited();
}

Status BenchPeer::begin_gossip() {
  if (gossips_.empty()) {
    const wire::GroupInfo all = swarm::plan_group(members_, plan_options());
    std::vector<PeerId> peers;
    for (const wire::MemberInfo& member : members_) peers.push_back(member.endpoint.peer);
    buckets_ = buckets_of(child_.bench.floats);
    for (const wire::Bucket& bucket : buckets_) {
      gossips_.emplace_back(wire::GossipPartners::exponential, all, peers, swarm::AgreedBucket{bucket, 1, Digest()});
    }
  }
  last_.clear();
  begin_costs();
  for (const wire::Bucket& bucket : buckets_) {
    const auto gossip = gossips_[bucket.number].next(members_[static_cast<std::size_t>(child_.rank)].endpoint.peer);
    if (!gossip) return Error{ErrorCode::failed_precondition, "nobody to mix with: give 2, 4, 8 … peers"};
    STARLING_ASSIGN(transport::AverageRequest request, request_for(gossip->group, bucket.begin));
    watch(last_.back(), request);
    STARLING_TRY(network_->mix(bucket.number, std::move(request)));
  }
  return {};
}

void BenchPeer::compute(std::chrono::steady_clock::time_point from) const {
  std::this_thread::sleep_until(from + from_seconds(child_.bench.step_s));
}

Result<std::string> BenchPeer::compute_then_average() {
  compute(std::chrono::steady_clock::now());
  return average();
}

Result<std::string> BenchPeer::compute_beside_gossip() {
  const auto began = std::chrono::steady_clock::now();
  STARLING_TRY(begin_gossip());
  compute(began);
  STARLING_TRY(finish());
  return std::string("done");
}

Status BenchPeer::finish() {
  for (Averaging& averaging : last_) averaging.outcome = averaging.ended.get();
  cpu_ = cpu_seconds() - cpu_before_;
  wakes_ = times_waited() - waited_before_;
  return {};
}

// Largest error that one use of a codec adds, relative to the largest magnitude.
double codec_error(std::string_view codec) {
  if (codec == "fp32") return 1e-6;
  if (codec == "fp16") return 1e-3;
  if (codec == "sparse") return 1;  // coordinates that it leaves out are missing
  return codec == "int8" ? 1.0 / 253 : 1.0 / 13;
}

bool BenchPeer::is_within_longest(const Averaging& averaging) const {
  const auto longest = static_cast<double>(averaging.seats.size());
  for (std::size_t k = averaging.begin; k < averaging.begin + static_cast<std::size_t>(averaging.plan.vector_floats);
       ++k) {
    const double most = longest * static_cast<double>(1 + k % 7) * (1 + codec_error(averaging.plan.codec));
    if (!(output_[k] > 0 && output_[k] <= most)) return false;
  }
  return true;
}

bool BenchPeer::correct(const Averaging& averaging) const {
  if (!center_.empty()) return is_within_longest(averaging);
  std::int64_t checked = 0;
  for (const averaging::ContributorRun& run : averaging.outcome.contributors) {
    double sum = 0;
    double count = 0;
    double error = 0;
    for (std::size_t rank = 0; rank < averaging.seats.size(); ++rank) {
      if (!run.members.test(rank)) continue;
      sum += averaging.seats[rank] + 1;
      const std::string& codec = averaging.plan.members[rank].codec;
      error += (averaging.seats[rank] + 1) * codec_error(codec.empty() ? averaging.plan.codec : codec);
      ++count;
    }
    const double tolerance = kLargestFactor * (error + sum * codec_error(averaging.plan.codec)) / count;
    for (std::int64_t k = run.begin; k < run.begin + run.floats; ++k) {
      const std::size_t coordinate = averaging.begin + static_cast<std::size_t>(k);
      const double expected = sum / count * static_cast<double>(1 + coordinate % 7);
      if (!(std::abs(output_[coordinate] - expected) <= tolerance)) return false;
    }
    checked += run.floats;
  }
  return checked == averaging.plan.vector_floats;
}

std::int64_t BenchPeer::complete(const Averaging& averaging, int without) {
  std::int64_t floats = 0;
  for (const averaging::ContributorRun& run : averaging.outcome.contributors) {
    bool all = true;
    for (std::size_t rank = 0; rank < averaging.seats.size(); ++rank) {
      all = all && (averaging.seats[rank] == without || run.members.test(rank));
    }
    floats += all ? run.floats : 0;
  }
  return floats;
}

std::string BenchPeer::report(int without) const {
  bool averaged = true;
  bool is_correct = true;
  std::int64_t floats = 0;
  for (const Averaging& averaging : last_) {
    averaged = averaged && averaging.outcome.verdict == averaging::AveragingOutcome::Verdict::averaged;
    is_correct = is_correct && correct(averaging);
    floats += complete(averaging, without);
  }
  const double code_bytes = resident_code_bytes() - baseline_code_bytes_;
  return fmt::format(
      "{:.6f} {:.0f} {:d} {:d} {} {:.6f} {:.0f} {}", cpu_, peak_resident_bytes() - baseline_bytes_ - code_bytes,
      averaged, averaged && is_correct, to_hex(last_.front().outcome.result_digest.bytes),
      static_cast<double>(floats) / static_cast<double>(child_.bench.floats), wakes_, network_->stats().streams_up);
}

void BenchPeer::forget_output() {
  network_->abandon();
  for (const wire::Bucket& bucket : buckets_) network_->end_gossip(bucket.number);
  std::fill(output_.begin(), output_.end(), std::numeric_limits<float>::quiet_NaN());
}

std::string BenchPeer::measured() const {
  const transport::NetworkStats stats = network_->stats();
  return fmt::format("{:.0f} {:.0f}", stats.upload_bytes_per_s, stats.download_bytes_per_s);
}

Result<std::string> BenchPeer::obey(const std::string& command) {
  std::istringstream in(command);
  std::string verb;
  in >> verb;
  if (verb == "report") {
    int without = -1;
    in >> without;
    const std::string line = report(in ? without : -1);
    forget_output();
    return line;
  }
  if (verb == "measured") return measured();
  if (verb == "peers") meet(in);
  if (verb == "speeds") learn_speeds(in);
  if (verb == "average") return average();
  if (verb == "compute-then-average") return compute_then_average();
  if (verb == "compute-beside-mixing") return compute_beside_gossip();
  if (verb == "mix") STARLING_TRY(begin_gossip());
  if (verb == "mix" || verb == "finish") STARLING_TRY(finish());
  if (verb == "plan") return last_.front().plan.reason;
  return std::string("done");
}

}  // namespace

int run_averaging_peer(const AveragingChild& child) {
  const auto fail = [&child](const Error& error) {
    std::fprintf(stderr, "averaging peer %d: %s\n", child.rank, error.message.c_str());
    return 1;
  };
  const auto peer = BenchPeer::create(child);
  if (!peer.ok()) return fail(peer.error());
  answer((*peer)->endpoint());
  for (std::string command = read_command(); !command.empty(); command = read_command()) {
    const Result<std::string> line = (*peer)->obey(command);
    if (!line.ok()) return fail(line.error());
    answer(*line);
  }
  return 0;
}

}  // namespace starling::bench
