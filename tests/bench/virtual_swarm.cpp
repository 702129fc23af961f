#include "tests/bench/virtual_swarm.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "client/rounds/round_payload.h"
#include "shared/base/permutation.h"
#include "shared/crypto/digest.h"
#include "shared/manifest/signed_report.h"
#include "shared/protocol/heartbeat.h"
#include "shared/protocol/heartbeat_reply.h"
#include "shared/run/model_layout.h"
#include "shared/swarm/sketch.h"
#include "tests/bench/https_connection.h"

namespace starling::bench {
namespace {

constexpr Duration kStepTime = std::chrono::milliseconds(2);
constexpr Duration kFetchTime = std::chrono::milliseconds(20);
constexpr double kLoss = 1.5;
constexpr int kListenPort = 4000;

// Adds the samples' gradients, which are the same at all parameters: numbers that are drawn for each sample.
void add_gradient(const wire::SampleRange& samples, std::span<float> sum) {
  const bool leased = samples.epoch != wire::kNoEpoch;
  const std::uint64_t order = mix64(static_cast<std::uint64_t>(leased ? samples.epoch : samples.round)) ^
                              mix64(static_cast<std::uint64_t>(leased ? 0 : samples.lane + 1));
  for (SampleCount i = 0; i < samples.count; ++i) {
    const std::uint64_t sample = mix64(order ^ static_cast<std::uint64_t>(samples.first + i));
    for (std::size_t k = 0; k < sum.size(); ++k) {
      sum[k] += static_cast<float>(static_cast<std::int64_t>(mix64(sample + k))) * 0x1p-63F;
    }
  }
}

}  // namespace

class VirtualTrainer final : private session::Session::Mediator {
 public:
  struct Parts {
    EventLoop& loop;
    VirtualSwarm& swarm;
    const CoordinatorProcess& coordinator;
    crypto::TlsContext tls;
    crypto::PrivateKey key;
    double samples_per_s = 1;
  };
  VirtualTrainer(Parts parts, const session::SessionOptions& options)
      : parts_(std::move(parts)),
        payload_(parts_.coordinator.manifest()),
        state_(options.initial_state_digest),
        session_(options, {.round = 0, .digest = state_, .unacknowledged = {}}, *this) {
    happen(TimePoint{}, [this](TimePoint now) { session_.start(now); });
  }

  void stop() {
    happen(TimePoint{}, [this](TimePoint now) { session_.set_paused(now, true, "the measurement is over"); });
  }
  [[nodiscard]] session::Session::View view() const { return session_.view(parts_.loop.now()); }

 private:
  // Passes an event to the session at `when`, then sets the timer for its next deadline.
  void happen(TimePoint when, std::function<void(TimePoint)> event) {
    parts_.loop.at(when, [this, event = std::move(event)] {
      event(parts_.loop.now());
      arm_timer();
    });
  }
  void happen_in(Duration after, std::function<void(TimePoint)> event) {
    happen(parts_.loop.now() + after, std::move(event));
  }
  void arm_timer() {
    const TimePoint now = parts_.loop.now();
    const TimePoint deadline = session_.next_deadline(now);
    if (deadline == kNever || (timer_ > now && timer_ <= deadline)) return;
    timer_ = deadline;
    happen(deadline, [this, deadline](TimePoint at) {
      if (timer_ == deadline) session_.on_timer(at);
    });
  }

  void send_heartbeat(const wire::Heartbeat& heartbeat) override {
    if (connection_ == nullptr) {
      connection_ = std::make_unique<HttpsConnection>(parts_.loop, parts_.coordinator.port(), parts_.tls);
    }
    wire::Heartbeat told = heartbeat;
    for (wire::RoundReport& report : told.reports) manifest::sign_report(told.run_id, parts_.key, report);
    std::string text = wire::encode(told);
    parts_.swarm.calls_.bytes_up += std::ssize(text);
    for (wire::RoundReport& report : told.reports) report.measured.reset();
    parts_.swarm.calls_.bytes_measured += std::ssize(text) - std::ssize(wire::encode(told));
    connection_->post("/v1/heartbeat", std::move(text), [this](const Result<std::string>& body) {
      if (body.ok()) ++parts_.swarm.calls_.answered, parts_.swarm.calls_.bytes_down += std::ssize(*body);
      auto reply = body.ok() ? wire::decode_heartbeat_reply(*body) : Result<wire::HeartbeatReply>(body.error());
      happen(TimePoint{}, [this, reply = std::move(reply)](TimePoint now) {
        if (reply.ok()) return session_.on_heartbeat_reply(now, *reply);
        connection_.reset();
        session_.on_heartbeat_failed(now, reply.error());
      });
    });
  }
  void start_batch(const wire::SampleRange& samples, const session::BatchTarget& target) override {
    if (payload_.is_undone_by(target)) {
      group_.reset();
      payload_.undo();
    }
    const rounds::BatchOrder order = payload_.next_batch(target);
    if (order.clears) std::fill(order.into.begin(), order.into.end(), 0.0F);
    const double seconds = static_cast<double>(samples.count) / parts_.samples_per_s;
    happen_in(from_seconds(seconds), [this, samples, into = order.into, seconds](TimePoint now) {
      add_gradient(samples, into);
      payload_.on_batch(samples.count);
      session_.on_batch_done(now,
                             session::BatchReport{samples.count, kLoss * static_cast<double>(samples.count), seconds});
    });
  }
  void report_unusable(const wire::UnusableSamples&) override {}
  void start_averaging(const wire::GroupInfo& group, averaging::Rank self,
                       const averaging::ContributionTerms& terms) override {
    auto move = payload_.contribute(group, self, terms, {});
    VERIFY(move.ok());
    group_ = group.id;
    parts_.swarm.meeting_place_.come(std::get<rounds::Leg>(*move), [this, id = group.id](const auto& outcome) {
      if (group_ == id) on_averaged(outcome);
    });
  }
  void on_averaged(const averaging::AveragingOutcome& outcome) {
    group_.reset();
    result_ = outcome.result_digest;
    const rounds::Move move = payload_.on_leg(outcome);
    happen(TimePoint{}, [this, ended = std::get<averaging::AveragingOutcome>(move)](TimePoint now) {
      session_.on_averaged(now, ended);
    });
  }
  void start_step(RoundIndex /*round*/) override {
    previous_ = state_;
    state_ = crypto::sha256(state_.hex() + result_.hex());
    happen_in(kStepTime, [this](TimePoint now) {
      payload_.on_stepped();
      session_.on_step_done(now, state_);
    });
  }
  // Gradients are the same at all parameters, so none need to be kept.
  bool keep_audited_state(RoundIndex /*round*/) override { return true; }
  void start_audit(const session::Audits::Piece& piece) override {
    std::vector<float> sum(wire::parameter_count(parts_.coordinator.manifest().model));
    add_gradient(piece.samples, sum);
    std::vector<double> sketches;
    for (const wire::SketchedPart& part : piece.parts) {
      swarm::Sketch sketch{};
      const auto values = std::span(sum).subspan(static_cast<std::size_t>(part.first));
      swarm::add_to_sketch(part.seed, part.first, values.first(static_cast<std::size_t>(part.floats)), sketch);
      sketches.insert(sketches.end(), sketch.begin(), sketch.end());
    }
    const double seconds = static_cast<double>(piece.samples.count) / parts_.samples_per_s;
    parts_.swarm.audited_samples_ += piece.samples.count;
    happen_in(from_seconds(seconds),
              [this, sketches = std::move(sketches)](TimePoint now) { session_.on_audited(now, sketches); });
  }
  std::optional<wire::OwnSketches> own_sketches(RoundIndex /*round*/, const Hash128& seed) override {
    return payload_.own_sketches(seed);
  }
  void start_evaluation() override {
    happen_in(kStepTime, [this](TimePoint now) { session_.on_evaluated(now, session::Evaluation{2.0, 4096}); });
  }
  void fetch_state(std::span<const wire::Endpoint> /*donors*/, RoundIndex round, const Digest& digest) override {
    state_ = digest;
    happen_in(kFetchTime, [this, round, digest](TimePoint now) { session_.on_state_fetched(now, round, digest, {}); });
  }
  void record_round(const wire::RoundReport& report, Duration /*took*/) override { parts_.swarm.on_recorded(report); }
  void forget_reports(RoundIndex below) override { parts_.swarm.on_acknowledged(below); }
  void withdraw_reports(RoundIndex /*from*/) override {}
  void save_checkpoint(RoundIndex /*round*/, const Digest& /*digest*/) override {}
  // No disk is lost here, so the coordinator neither gets a copy nor gives one.
  void fetch_checkpoint(const wire::Artefact& /*file*/, RoundIndex round, const Digest& digest) override {
    fetch_state({}, round, digest);
  }
  void make_initial_state(const Digest& digest) override { fetch_state({}, 0, digest); }
  void forget_previous_state() override { previous_ = {}; }
  void restore_previous_state(RoundIndex round, const Digest& digest) override {
    VERIFY(digest == previous_);
    fetch_state({}, round, digest);
  }
  void send_checkpoint(RoundIndex /*round*/, const Digest& /*digest*/) override {}
  std::optional<Digest> prove_state(const Hash128& challenge, const Digest& digest) override {
    return crypto::sha256(challenge.hex() + digest.hex());
  }

  Parts parts_;
  rounds::RoundPayload payload_;
  std::optional<GroupId> group_;  // the averaging under way
  Digest state_;
  Digest previous_;
  Hash128 result_;
  session::Session session_;
  std::unique_ptr<HttpsConnection> connection_;
  TimePoint timer_{};
};

VirtualSwarm::VirtualSwarm(EventLoop& loop, const CoordinatorProcess& coordinator,
                           std::span<const Volunteer> volunteers, double samples_per_s_each)
    : meeting_place_(loop), state_digest_(coordinator.manifest().initial_state_digest) {
  for (const Volunteer& volunteer : volunteers) {
    session::SessionOptions options;
    options.run_id = CoordinatorProcess::kRun;
    options.self = volunteer.key.peer_id();
    options.micro_batch_size = kMicroBatch;
    options.leased = true;
    options.listen_port = kListenPort;
    options.seed = trainers_.size();
    options.audits = coordinator.manifest().round.audit_rate > 0;
    options.initial_state_digest = coordinator.manifest().initial_state_digest;
    trainers_.push_back(
        std::make_unique<VirtualTrainer>(VirtualTrainer::Parts{loop, *this, coordinator, tls_of(coordinator, volunteer),
                                                               volunteer.key, samples_per_s_each},
                                         options));
  }
}

VirtualSwarm::~VirtualSwarm() = default;

void VirtualSwarm::stop() {
  for (const auto& trainer : trainers_) trainer->stop();
}

bool VirtualSwarm::all_acknowledged() const {
  return std::all_of(trainers_.begin(), trainers_.end(), [](const auto& trainer) {
    const session::Session::View view = trainer->view();
    return view.activity.phase == session::Phase::paused && view.reports_waiting == 0;
  });
}

VirtualSwarm::Checked VirtualSwarm::checked() const {
  Checked sum;
  for (const auto& trainer : trainers_) {
    const std::optional<wire::CheckedWork> checked = trainer->view().checked;
    if (!checked) continue;
    sum.rounds += checked->times + checked->missed;
    sum.missed += checked->missed;
  }
  return sum;
}

SampleCount VirtualSwarm::acknowledged_samples() const {
  SampleCount sum = 0;
  for (const auto& [round, samples] : recorded_) {
    if (round < acknowledged_rounds_) sum += samples;
  }
  return sum;
}

void VirtualSwarm::on_recorded(const wire::RoundReport& report) {
  SampleCount samples = 0;
  for (const wire::Contribution& contribution : report.contributions) samples += contribution.samples;
  if (!recorded_.emplace(report.round, samples).second) return;  // another member of the group was first
  round_ = report.round + 1;
  state_digest_ = report.state_digest;
}

}  // namespace starling::bench
