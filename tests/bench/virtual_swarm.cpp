#include "tests/bench/virtual_swarm.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "shared/crypto/digest.h"
#include "shared/manifest/signed_report.h"
#include "shared/protocol/heartbeat.h"
#include "shared/protocol/heartbeat_reply.h"
#include "tests/bench/https_connection.h"

namespace starling::bench {
namespace {

constexpr Duration kAveragingTime = std::chrono::milliseconds(50);
constexpr Duration kStepTime = std::chrono::milliseconds(2);
constexpr Duration kFetchTime = std::chrono::milliseconds(20);
constexpr double kLoss = 1.5;
constexpr int kListenPort = 4000;

}  // namespace

void MeetingPlace::come(const wire::GroupInfo& group, averaging::Rank self, const averaging::ContributionTerms& terms,
                        Done done) {
  const auto [entry, is_new] = meetings_.try_emplace(group.id);
  Meeting& meeting = entry->second;
  if (is_new) {
    meeting.terms.resize(group.members.size());
    meeting.waiting.resize(group.members.size());
    meeting.missing = group.members.size();
    meeting.began = loop_.now();
    loop_.at(loop_.now() + from_ms(group.begin_within_ms), [this, group] { close(group); });
  }
  if (meeting.closed) {
    averaging::AveragingOutcome outcome;
    outcome.verdict = averaging::AveragingOutcome::Verdict::expelled;
    loop_.post([done = std::move(done), outcome] { done(outcome); });
    return;
  }
  meeting.terms[self] = terms;
  meeting.waiting[self] = std::move(done);
  if (--meeting.missing == 0) loop_.at(loop_.now() + kAveragingTime, [this, group] { close(group); });
}

void MeetingPlace::close(const wire::GroupInfo& group) {
  Meeting& meeting = meetings_.at(group.id);
  if (std::exchange(meeting.closed, true)) return;
  averaging::AveragingOutcome outcome;
  std::string told = group.id.hex();
  for (const averaging::ContributionTerms& terms : meeting.terms) {
    outcome.samples.push_back(terms.weight);
    outcome.draws.push_back(terms.draw);
    outcome.weight_total += terms.weight;
    told += " " + std::to_string(terms.weight);
  }
  outcome.result_digest = hash128({reinterpret_cast<const std::uint8_t*>(told.data()), told.size()});
  outcome.elapsed = loop_.now() - meeting.began;
  const std::size_t present = meeting.waiting.size() - meeting.missing;
  const bool minority = group.members.size() > 1 && 2 * present <= group.members.size();
  if (minority) outcome.verdict = averaging::AveragingOutcome::Verdict::minority;
  for (Done& done : meeting.waiting) {
    if (done == nullptr) continue;
    loop_.post([done = std::move(done), outcome] { done(outcome); });
    done = nullptr;
  }
}

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
    connection_->post("/v1/heartbeat", wire::encode(told), [this](const Result<std::string>& body) {
      auto reply = body.ok() ? wire::decode_heartbeat_reply(*body) : Result<wire::HeartbeatReply>(body.error());
      happen(TimePoint{}, [this, reply = std::move(reply)](TimePoint now) {
        if (reply.ok()) return session_.on_heartbeat_reply(now, *reply);
        connection_.reset();
        session_.on_heartbeat_failed(now, reply.error());
      });
    });
  }
  void start_batch(const wire::SampleRange& samples, const session::BatchTarget& /*target*/) override {
    const double seconds = static_cast<double>(samples.count) / parts_.samples_per_s;
    happen_in(from_seconds(seconds), [this, count = samples.count, seconds](TimePoint now) {
      session_.on_batch_done(now, session::BatchReport{count, kLoss * static_cast<double>(count), seconds});
    });
  }
  void report_unusable(const wire::UnusableSamples&) override {}
  void start_averaging(const wire::GroupInfo& group, averaging::Rank self,
                       const averaging::ContributionTerms& terms) override {
    parts_.swarm.meeting_place_.come(group, self, terms, [this](const averaging::AveragingOutcome& outcome) {
      result_ = outcome.result_digest;
      happen(TimePoint{}, [this, outcome](TimePoint now) { session_.on_averaged(now, outcome); });
    });
  }
  void start_step(RoundIndex /*round*/) override {
    previous_ = state_;
    state_ = crypto::sha256(state_.hex() + result_.hex());
    happen_in(kStepTime, [this](TimePoint now) { session_.on_step_done(now, state_); });
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
  Digest state_;
  Digest previous_;
  Hash128 result_;
  session::Session session_;
  std::unique_ptr<HttpsConnection> connection_;
  TimePoint timer_{};
};

VirtualSwarm::VirtualSwarm(EventLoop& loop, const CoordinatorProcess& coordinator,
                           std::span<const Volunteer> volunteers, double samples_per_s_each)
    : meeting_place_(loop), state_digest_(coordinator.initial_state()) {
  for (const Volunteer& volunteer : volunteers) {
    session::SessionOptions options;
    options.run_id = CoordinatorProcess::kRun;
    options.self = volunteer.key.peer_id();
    options.micro_batch_size = kMicroBatch;
    options.leased = true;
    options.listen_port = kListenPort;
    options.seed = trainers_.size();
    options.initial_state_digest = coordinator.initial_state();
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
