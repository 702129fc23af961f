#include "client/daemon/project_run.h"

#include <fcntl.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "shared/base/log.h"
#include "shared/wire/model_layout.h"

namespace starling::daemon {
namespace {

using averaging::AveragingOutcome;

constexpr Duration kRenewRetry = std::chrono::minutes(1);  // whoever is not a member any more is refused each time

Result<UniqueFd> open_data(const std::filesystem::path& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) {
    return Error{ErrorCode::io, fmt::format("open training data '{}': {}", path.string(), std::strerror(errno))};
  }
  return fd;
}

Result<std::unique_ptr<trainer_link::TrainerProcess>> make_trainer(const RunOptions& options,
                                                                   const PreparedRun& prepared) {
  trainer_link::TrainerProcessOptions process;
  process.program = options.trainer_program;
  process.manifest = prepared.manifest;
  STARLING_ASSIGN(process.train_data, open_data(prepared.train_file));
  STARLING_ASSIGN(process.validation_data, open_data(prepared.validation_file));
  return trainer_link::TrainerProcess::create(std::move(process));
}

}  // namespace

struct ProjectRun::Parts {
  wire::RunManifest manifest;
  storage::Project project;
  crypto::PrivateKey key;
  storage::ProjectFiles& files;
  CoordinatorCalls& calls;
  // Trainer thread, except state() through `snapshots` and stop().
  std::unique_ptr<trainer_link::TrainerProcess> trainer;
  std::unique_ptr<SnapshotKeeper> snapshots;
  std::shared_ptr<std::atomic<bool>> serving;  // whether others may download the state from here
  storage::CheckpointStore checkpoints;
  storage::RoundJournal journal;
  std::unique_ptr<transport::PeerNetwork> network;
  std::unique_ptr<session::Session> session;
  session::InitialState initial;
  std::vector<std::string> damaged;  // checkpoints found so at the start, in sentences
  // The trainer thread fills one gradient while the group may still ask for the other.
  std::array<std::vector<float>, 2> gradients;
  std::vector<float> averaged;
};

struct ProjectRun::Fetch {
  Fetch(RoundIndex of_round, const Digest& with_digest) : round(of_round), digest(with_digest) {}
  RoundIndex round;
  Digest digest;
  std::atomic<bool> ended{false};  // set on the net thread
};

namespace {

// Whether any of it must be given back.
bool is_less(const trainer_link::TrainerShare& now, const trainer_link::TrainerShare& before) {
  const auto memory = [](const trainer_link::TrainerShare& share) {
    return share.memory_bytes == 0 ? UINT64_MAX : share.memory_bytes;
  };
  return now.threads < before.threads || memory(now) < memory(before) || (before.gpu && !now.gpu);
}

// The newest checkpoint whose digest is what its name says, or round 0.
Result<session::InitialState> load_state(trainer_link::TrainerProcess& trainer, SnapshotKeeper& snapshots,
                                         storage::CheckpointStore& checkpoints) {
  session::InitialState initial;
  while (true) {
    std::optional<storage::CheckpointInfo> loaded;
    auto digest = snapshots.change(0, [&]() -> Status {
      auto newest = checkpoints.load_newest(trainer.state());
      if (newest.ok()) {
        loaded = *newest;
        return {};
      }
      if (newest.error().code != ErrorCode::not_found) return newest.error();
      return trainer.initialize();
    });
    if (!digest.ok()) return digest.error().prefixed("prepare the model");
    initial.digest = *digest;
    if (!loaded.has_value()) return initial;
    if (loaded->state_digest == *digest) {
      initial.round = loaded->round;
      return initial;
    }
    STARLING_TRY(checkpoints.set_newest_aside("its content does not have the digest it claims"));
  }
}

}  // namespace

Result<std::unique_ptr<ProjectRun>> ProjectRun::create(const Threads& threads, const RunOptions& options,
                                                       const RunInputs& inputs) {
  const PreparedRun& prepared = inputs.prepared;
  STARLING_ASSIGN(auto trainer, make_trainer(options, prepared));
  auto snapshots = std::make_unique<SnapshotKeeper>(trainer->state());
  const session::StateLayout layout = trainer->layout();
  storage::CheckpointStore checkpoints(inputs.files.dir() / "checkpoints", prepared.manifest.run_id,
                                       layout.parameter_count, layout.optimizer_vectors);
  STARLING_ASSIGN(session::InitialState initial, load_state(*trainer, *snapshots, checkpoints));
  STARLING_ASSIGN(storage::RoundJournal journal, storage::RoundJournal::open(inputs.files.dir()));
  initial.unacknowledged = journal.pending();
  std::vector<std::string> damaged = checkpoints.problems();

  transport::PeerNetworkOptions network_options;
  network_options.listen_host = options.listen_host;
  network_options.listen_port = options.listen_port;
  network_options.self = inputs.key.peer_id();
  network_options.run_id = prepared.manifest.run_id;
  network_options.addresses = transport::policy_for_coordinator(inputs.project.host);
  STARLING_ASSIGN(crypto::TlsContext tls,
                  crypto::TlsContext::peer(inputs.project.ca_pem, {prepared.certificate_pem, inputs.key}));
  SnapshotKeeper* source = snapshots.get();
  auto serving = std::make_shared<std::atomic<bool>>(true);
  auto network = transport::PeerNetwork::create(network_options, std::move(tls), threads.clock,
                                                [source, serving](RoundIndex round, const Digest& digest) {
                                                  return *serving ? source->find(round, digest) : nullptr;
                                                });
  if (!network.ok()) return network.error().prefixed("open the port for other volunteers");

  Parts parts{prepared.manifest,
              inputs.project,
              inputs.key,
              inputs.files,
              inputs.calls,
              std::move(trainer),
              std::move(snapshots),
              std::move(serving),
              std::move(checkpoints),
              std::move(journal),
              std::move(*network),
              nullptr,
              std::move(initial),
              std::move(damaged),
              {},
              {}};
  for (auto& gradient : parts.gradients) gradient.resize(layout.parameter_count);
  parts.averaged.resize(layout.parameter_count);
  return std::unique_ptr<ProjectRun>(new ProjectRun(threads, std::move(parts)));
}

ProjectRun::ProjectRun(const Threads& threads, Parts parts)
    : threads_(threads), parts_(std::make_unique<Parts>(std::move(parts))) {
  session::SessionOptions options;
  options.run_id = parts_->manifest.run_id;
  options.self = parts_->key.peer_id();
  options.micro_batch_size = parts_->manifest.micro_batch_size;
  options.listen_port = parts_->network->port();
  options.seed = mix64(static_cast<std::uint64_t>(threads_.clock.wall_now().unix_ms) ^ options.self.bytes[0]);
  session::Session::Mediator& hands = *this;
  parts_->session = std::make_unique<session::Session>(options, parts_->initial, hands);
}

ProjectRun::~ProjectRun() = default;

void ProjectRun::start(const Permission& permission, std::function<void()> changed) {
  changed_ = std::move(changed);
  obey(permission);
  parts_->session->start(threads_.clock.now());
  after_event();
}

void ProjectRun::stop() {
  stopped_ = true;
  threads_.control.set_timer(kNever, nullptr);
  parts_->network.reset();  // the others notice at once
  parts_->trainer->stop();  // a computation under way may be long, and nobody will hear its result
}

void ProjectRun::finish_on_trainer(bool keep_state) {
  if (keep_state) save_last_state();
  parts_->trainer.reset();
}

void ProjectRun::save_last_state() {
  const session::Session::View view = parts_->session->view(threads_.clock.now());
  // A download that was under way has not touched the state. A step was still finished, unknown to the session.
  const SnapshotKeeper::Held held = parts_->snapshots->held();
  if (held.digest.is_zero() || (view.rounds_done == 0 && !view.synced)) return;
  const bool stepped = held.digest != view.state_digest;
  const storage::CheckpointInfo info{parts_->manifest.run_id, stepped ? held.round : view.state_round, held.digest};
  if (const Status saved = parts_->checkpoints.save(info, parts_->trainer->state()); !saved.ok()) {
    log_error("save the model before leaving: {}", saved.error().message);
  }
}

void ProjectRun::obey(const Permission& permission) {
  bool took_something = false;
  {
    const MutexLock lock(share_mutex_);
    const auto before = share_;
    if (permission.train) {
      share_ = permission.share;
    } else {
      share_.reset();
    }
    took_something = !share_ || (before && is_less(*share_, *before));
  }
  if (took_something) parts_->trainer->stop();
  coordinator_allowed_ = permission.coordinator;
  *parts_->serving = permission.train;
  if (!permission.train) stop_fetch();
  parts_->session->set_paused(threads_.clock.now(), !permission.train, permission.reason);
  after_event();
}

std::optional<trainer_link::TrainerShare> ProjectRun::allowed_share() const {
  const MutexLock lock(share_mutex_);
  return share_;
}

Result<session::BatchReport> ProjectRun::train_batch(const wire::SampleRange& samples, std::span<float> gradient) {
  while (true) {
    const auto share = allowed_share();
    if (!share) return Error{ErrorCode::unavailable, "training is paused"};
    parts_->trainer->set_share(*share);
    auto report = parts_->trainer->train_batch(samples, gradient);
    if (report.ok() || allowed_share() == share) return report;
  }
}

void ProjectRun::sample_text(const std::string& prompt, int length, double temperature,
                             std::function<void(Result<std::string>)> done) {
  threads_.trainer.post([this, prompt, length, temperature, done = std::move(done)] {
    if (stopped_) return done(Error{ErrorCode::unavailable, "the run was stopped"});
    const auto share = allowed_share();
    if (!share) return done(Error{ErrorCode::unavailable, "training was paused meanwhile"});
    parts_->trainer->set_share(*share);
    done(parts_->trainer->sample_text(prompt, length, temperature));
  });
}

void ProjectRun::deliver(std::function<void(TimePoint now)> event) {
  threads_.control.post([this, event = std::move(event)] {
    if (stopped_) return;
    event(threads_.clock.now());
    after_event();
  });
}

void ProjectRun::after_event() {
  rest_trainer_if_paused();
  const TimePoint deadline = parts_->session->next_deadline(threads_.clock.now());
  threads_.control.set_timer(deadline, [this] {
    if (stopped_) return;
    parts_->session->on_timer(threads_.clock.now());
    after_event();
  });
  if (changed_) changed_();
}

void ProjectRun::rest_trainer_if_paused() {
  const bool paused = parts_->session->view(threads_.clock.now()).activity.phase == session::Phase::paused;
  if (paused && !trainer_resting_) {
    threads_.trainer.post([this] {
      if (!stopped_) parts_->trainer->stop();
    });
  }
  trainer_resting_ = paused;
}

void ProjectRun::send_heartbeat(const wire::Heartbeat& heartbeat) {
  if (!coordinator_allowed_) {
    deliver([this](TimePoint now) {
      parts_->session->on_heartbeat_failed(now, Error{ErrorCode::unavailable, "the network is switched off"});
    });
    return;
  }
  threads_.coordinator.post([this, heartbeat] {
    if (stopped_) return;
    auto reply = parts_->calls.heartbeat(heartbeat);
    deliver([this, reply = std::move(reply)](TimePoint now) {
      if (!reply.ok()) {
        if (reply.error().code == ErrorCode::unauthenticated) renew_refused_certificate(now);
        parts_->session->on_heartbeat_failed(now, reply.error());
        return;
      }
      const transport::NetworkStats stats = parts_->network->stats();
      parts_->session->set_link_speeds(stats.upload_bytes_per_s, stats.download_bytes_per_s);
      if (!reply->notice.empty() && reply->notice != notice_) log_warning("coordinator: {}", reply->notice);
      notice_ = reply->notice;
      if (reply->renew_certificate) renew_certificate();
      parts_->session->on_heartbeat_reply(now, *reply);
    });
  });
}

// It runs out while this computer sleeps or the coordinator is away: then no heartbeat comes back that asks for it.
void ProjectRun::renew_refused_certificate(TimePoint now) {
  if (now < renew_not_before_) return;
  renew_not_before_ = now + kRenewRetry;
  renew_certificate();
}

void ProjectRun::renew_certificate() {
  if (renewing_) return;
  renewing_ = true;
  threads_.coordinator.post([this] {
    if (stopped_) return;
    auto fresh = parts_->calls.renew_certificate();
    deliver([this, fresh = std::move(fresh)](TimePoint) {
      renewing_ = false;
      if (!fresh.ok()) {
        log_warning("renew this computer's certificate: {}", fresh.error().message);
        return;
      }
      parts_->project.certificate_pem = *fresh;
      if (const Status saved = parts_->files.save_project(parts_->project); !saved.ok()) {
        log_warning("keep the new certificate: {}", saved.error().message);
      }
      auto tls = crypto::TlsContext::peer(parts_->project.ca_pem, {*fresh, parts_->key});
      if (tls.ok()) parts_->network->renew_certificate(std::move(*tls));
    });
  });
}

void ProjectRun::start_batch(const wire::SampleRange& samples, bool first) {
  if (averaging_holds_gradient_) {  // the round did not count: its gradient grows on
    parts_->network->abandon();
    averaging_holds_gradient_ = false;
  }
  std::vector<float>& gradient = parts_->gradients[gradient_in_use_];
  threads_.trainer.post([this, samples, first, &gradient] {
    if (stopped_) return;
    if (first) std::fill(gradient.begin(), gradient.end(), 0.0F);
    auto report = train_batch(samples, gradient);
    deliver([this, report = std::move(report)](TimePoint now) { parts_->session->on_batch_done(now, report); });
  });
}

void ProjectRun::start_averaging(const wire::GroupInfo& group, averaging::Rank self, SampleCount weight) {
  transport::AverageRequest request;
  request.group = group;
  request.self = self;
  request.weight = weight;
  request.input = parts_->gradients[gradient_in_use_];
  request.output = parts_->averaged;
  request.start = threads_.clock.now();
  request.done = [this](const AveragingOutcome& outcome) {
    deliver([this, outcome](TimePoint now) { parts_->session->on_averaged(now, outcome); });
  };
  averaging_holds_gradient_ = true;
  if (const Status begun = parts_->network->average(std::move(request)); !begun.ok()) {
    log_warning("averaging: {}", begun.error().message);
    AveragingOutcome outcome;
    outcome.verdict = AveragingOutcome::Verdict::expelled;
    outcome.samples.assign(group.members.size(), 0);
    deliver([this, outcome](TimePoint now) { parts_->session->on_averaged(now, outcome); });
  }
}

void ProjectRun::start_step(RoundIndex round) {
  if (averaging_holds_gradient_) {  // batches go into the other one: slower members may still need this
    averaging_holds_gradient_ = false;
    gradient_in_use_ = 1 - gradient_in_use_;
  }
  threads_.trainer.post([this, round] {
    if (stopped_) return;
    auto digest = parts_->snapshots->change(round + 1, [&] { return parts_->trainer->step(round, parts_->averaged); });
    deliver([this, digest = std::move(digest)](TimePoint now) { parts_->session->on_step_done(now, digest); });
  });
}

void ProjectRun::start_evaluation() {
  threads_.trainer.post([this] {
    if (stopped_) return;
    const auto share = allowed_share();
    if (share) parts_->trainer->set_share(*share);
    auto evaluation = share ? parts_->trainer->evaluate()
                            : Result<session::Evaluation>(Error{ErrorCode::unavailable, "training is paused"});
    deliver(
        [this, evaluation = std::move(evaluation)](TimePoint now) { parts_->session->on_evaluated(now, evaluation); });
  });
}

void ProjectRun::fetch_state(std::span<const wire::Endpoint> donors, RoundIndex round, const Digest& digest) {
  // Into memory of its own: a download that fails must leave the replica as it is.
  auto state = std::make_shared<std::vector<float>>(parts_->trainer->layout().size());
  transport::StateFetch fetch;
  fetch.donors.assign(donors.begin(), donors.end());
  fetch.round = round;
  fetch.state_digest = digest;
  fetch.out = *state;
  fetch_ = std::make_shared<Fetch>(round, digest);
  fetch.done = [this, state, round, digest, under_way = fetch_](const Status& status) {
    under_way->ended = true;
    if (status.ok()) {
      install_state(round, digest, state);
    } else {
      state_fetched(round, digest, status);
    }
  };
  parts_->network->cancel_fetch();
  if (const Status begun = parts_->network->fetch_state(std::move(fetch)); !begun.ok()) {
    fetch_->ended = true;
    state_fetched(round, digest, begun);
  }
}

// A download whose end is on its way already is left to arrive.
void ProjectRun::stop_fetch() {
  if (fetch_ == nullptr || fetch_->ended) return;
  parts_->network->cancel_fetch();
  if (fetch_->ended.exchange(true)) return;
  state_fetched(fetch_->round, fetch_->digest, Error{ErrorCode::unavailable, "interrupted by a pause"});
}

void ProjectRun::state_fetched(RoundIndex round, const Digest& digest, const Status& status) {
  deliver(
      [this, round, digest, status](TimePoint now) { parts_->session->on_state_fetched(now, round, digest, status); });
}

void ProjectRun::install_state(RoundIndex round, const Digest& digest, std::shared_ptr<std::vector<float>> state) {
  threads_.trainer.post([this, round, digest, state = std::move(state)] {
    if (stopped_) return;
    auto installed = parts_->snapshots->change(round, [&]() -> Status {
      std::copy(state->begin(), state->end(), parts_->trainer->state().begin());
      return {};
    });
    VERIFY(installed.ok() && *installed == digest);  // every chunk was checked on arrival
    state_fetched(round, digest, Status());
  });
}

void ProjectRun::record_round(const wire::RoundReport& report, Duration round_duration) {
  // On failure the report is still told to the coordinator; only a crash before that would lose it.
  note_saving("keep finished rounds on disk", parts_->journal.record(report, round_duration), journal_problem_);
}

void ProjectRun::forget_reports(RoundIndex below) {
  if (below <= forgotten_below_) return;
  forgotten_below_ = below;
  note_saving("keep finished rounds on disk", parts_->journal.forget(below), journal_problem_);
}

void ProjectRun::save_checkpoint(RoundIndex round, const Digest& digest) {
  threads_.trainer.post([this, round, digest] {
    if (stopped_) return;
    const storage::CheckpointInfo info{parts_->manifest.run_id, round, digest};
    const Status saved = parts_->checkpoints.save(info, parts_->trainer->state());
    deliver([this, saved](TimePoint) { note_saving("save the model", saved, checkpoint_problem_); });
  });
}

void ProjectRun::note_saving(const char* what, const Status& saved, std::string& problem) {
  if (saved.ok()) {
    if (!problem.empty()) log_info("{}: the disk takes it again", what);
    problem.clear();
    return;
  }
  std::string now = fmt::format("{}: {}", what, saved.error().message);
  if (problem.empty()) log_error("{}; training goes on, and it is tried again", now);
  problem = std::move(now);
}

void ProjectRun::count_traffic(TrafficCounters& counters) const {
  if (!parts_->network) return;
  const transport::NetworkStats stats = parts_->network->stats();
  counters.averaging = stats.round_bytes_sent + stats.round_bytes_received;
  counters.models = stats.state_bytes_sent + stats.state_bytes_received;
}

void ProjectRun::describe(wire::DaemonStatus& status) const {
  const session::Session::View view = parts_->session->view(threads_.clock.now());
  status.phase = std::string(session::to_string(view.activity.phase));
  status.reason = view.activity.reason;
  status.ends_when = view.activity.ends_when;
  for (const std::string* problem : {&journal_problem_, &checkpoint_problem_}) {
    if (!problem->empty()) status.problems.push_back(*problem);
  }
  if (!notice_.empty()) status.problems.push_back("the coordinator says: " + notice_);
  status.problems.insert(status.problems.end(), parts_->damaged.begin(), parts_->damaged.end());
  status.run_id = parts_->manifest.run_id;
  status.listen_port = parts_->network ? parts_->network->port() : 0;
  status.coordinator_away = view.coordinator_away;
  status.round = view.state_round;
  status.state_round = view.state_round;
  status.state_digest = view.state_digest;
  status.synced = view.synced;
  status.samples_this_round = view.samples_this_round;
  status.samples_total = view.samples_total;
  status.samples_per_s = view.samples_per_s;
  status.loss = view.loss;
  if (view.evaluation.has_value()) {
    status.validation_bits_per_byte = view.evaluation->bits_per_byte;
    status.validation_round = view.evaluation->round;
  }
  status.rounds_done = view.rounds_done;
  status.rounds_failed = view.rounds_failed;
  status.reports_waiting = static_cast<std::int64_t>(view.reports_waiting);
  status.target_batch_size = parts_->manifest.target_batch_size;
  if (view.last_reply.has_value()) {
    const wire::HeartbeatReply& reply = *view.last_reply;
    status.run_state = std::string(wire::to_string(reply.run_state));
    status.round = std::max(view.state_round, reply.round);
    status.samples_accumulated = reply.samples_accumulated;
    status.swarm_samples_per_s = reply.swarm_samples_per_s;
    status.swarm_size = reply.swarm_size;
    status.samples_credited = reply.credited_samples;
    status.credit = reply.credit;
  }
  if (parts_->network) {
    const transport::NetworkStats stats = parts_->network->stats();
    status.upload_bytes_per_s = stats.upload_bytes_per_s;
    status.download_bytes_per_s = stats.download_bytes_per_s;
    status.bytes_sent = stats.round_bytes_sent + stats.state_bytes_sent;
    status.bytes_received = stats.round_bytes_received + stats.state_bytes_received;
  }
}

}  // namespace starling::daemon
