#include "client/daemon/project_run.h"

#include <algorithm>
#include <map>
#include <utility>

#include "client/daemon/limit_warning.h"
#include "client/daemon/session_status.h"
#include "client/daemon/state_trust.h"
#include "shared/base/clock.h"
#include "shared/base/log.h"
#include "shared/control/self_test_note.h"
#include "shared/manifest/signed_report.h"
#include "shared/net/line.h"
#include "shared/protocol/heartbeat.h"
#include "shared/protocol/heartbeat_reply.h"
#include "shared/run/cells.h"
#include "shared/run/epochs.h"
#include "shared/swarm/plausible.h"

namespace starling::daemon {
namespace {

// Samples that are computed at one go. Where they go through experts that others hold, a line is idle at the beginning
// and the end of each window: so a window has several micro-batches, unless rounds are too short for that.
SampleCount batch_size(const wire::RunManifest& manifest) {
  constexpr SampleCount kMicroBatchesMax = 4;
  constexpr SampleCount kWindowsOfRound = 64;  // all volunteers together
  if (!wire::has_cells(manifest.model)) return manifest.micro_batch_size;
  const SampleCount fit = manifest.target_batch_size / (kWindowsOfRound * manifest.micro_batch_size);
  return manifest.micro_batch_size * std::clamp<SampleCount>(fit, 1, kMicroBatchesMax);
}

session::SessionOptions session_options(const RunContext& context, const storage::KnownState& known, int listen_port,
                                        const CorrectedClock& clock) {
  const wire::RunManifest& manifest = context.manifest;
  session::SessionOptions options;
  options.run_id = manifest.run_id;
  options.self = context.key.peer_id();
  options.micro_batch_size = batch_size(manifest);
  options.samples_max = swarm::member_samples_max(manifest.target_batch_size, manifest.micro_batch_size);
  options.leased = wire::samples_in_epochs(manifest);
  options.has_state = manifest.model.experts.piece != wire::kNoPiece;
  options.listen_port = listen_port;
  options.delay_parameter_updates = manifest.round.delay_parameter_updates;
  options.audits = manifest.round.audit_rate > 0 && wire::why_not_audited(manifest).empty();
  options.initial_state_digest = manifest.initial_state_digest;
  options.trust = trust_of(context, known);
  options.seed = mix64(static_cast<std::uint64_t>(clock.wall_now().unix_ms) ^ options.self.bytes[0]);
  return options;
}

// Without the trunk a computer has nothing to do before it holds cells.
void wait_for_cells(wire::DaemonStatus& status) {
  const bool waits = !status.cells->trunk_here && status.cells->held.empty();
  if (!waits || status.phase != wire::DaemonPhase::training) return;
  status.phase = wire::DaemonPhase::waiting;
  status.reason = "the memory that you allow has room for experts of the model alone, and none are here yet";
  status.ends_when = "the coordinator deals it some";
}

}  // namespace

Result<std::unique_ptr<ProjectRun>> ProjectRun::create(const Threads& threads, const RunOptions& options,
                                                       const RunInputs& inputs) {
  STARLING_ASSIGN(RunParts parts, open_run(threads.clock, options, inputs));
  std::unique_ptr<ProjectRun> run(new ProjectRun(threads, options.outgoing, std::move(parts)));
  if (run->cells_ != nullptr) STARLING_TRY(run->cells_->prepare());
  return run;
}

ProjectRun::ProjectRun(const Threads& threads, const Outgoing& outgoing, RunParts parts)
    : threads_(threads, parts.context.manifest.round.delay_parameter_updates, [this] { after_event(); }),
      context_(std::move(parts.context)),
      trainer_(threads_, std::move(parts.trainer), context_.manifest),
      state_(
          threads_, context_.manifest, trainer_.process(),
          [this](std::span<float> into) { return trainer_.process().make_initial_state(into); },
          std::move(parts.state)),
      network_(std::move(parts.network)),
      coordinator_(
          threads_, context_.calls,
          {outgoing.heartbeat,
           [key = context_.key](wire::Heartbeat& heartbeat) {
             for (auto& report : heartbeat.reports) manifest::sign_report(heartbeat.run_id, key, report);
           },
           [this](TimePoint now, const Result<wire::HeartbeatReply>& reply) { on_heartbeat_answered(now, reply); },
           [this](const std::string& pem) { adopt_certificate(pem); }}),
      reach_(threads_, *network_, [this](TimePoint now) { session_.tell_soon(now); }),
      fetcher_(threads_, context_, state_, *network_,
               [this](TimePoint now, RoundIndex round, const Digest& digest, const Status& status) {
                 note_line();  // the download's figures, for the plan of the first round
                 session_.on_state_fetched(now, round, digest, status);
               }),
      gossip_(threads_, rounds::Gossip::make(context_.manifest, context_.key.peer_id()), trainer_.process(), *network_),
      rounds_(
          threads_, context_.manifest, averager_of(*network_),
          {outgoing.contribution,
           [this](TimePoint now, const averaging::AveragingOutcome& outcome) { session_.on_averaged(now, outcome); }}),
      reports_(std::move(parts.journal)),
      cells_(make_cells(threads, outgoing, parts)),
      session_(session_options(context_, parts.known, network_->port(), threads_.clock()), std::move(parts.initial),
               *this) {}

ProjectRun::~ProjectRun() = default;

std::unique_ptr<CellRuns> ProjectRun::make_cells(const Threads& threads, const Outgoing& outgoing,
                                                 const RunParts& parts) {
  if (!wire::has_cells(context_.manifest.model)) return nullptr;
  CellRuns::Listener listener{
      [this](TimePoint now) { session_.retry_now(now); },
      [this](wire::Heartbeat& heartbeat) {
        reach_.tell(heartbeat);
        heartbeat.computing.device = trainer_.device_for_others();
      },
      [this](TimePoint now) { session_.tell_soon(now); },
      [this] { after_event(); },
  };
  auto cells = std::make_unique<CellRuns>(CellRuns::Trunk{threads, threads_, context_, trainer_, *network_, parts.shelf,
                                                          outgoing, parts.cell_bytes, parts.desk_bytes},
                                          std::move(listener));
  if (context_.manifest.model.experts.piece == wire::kNoPiece) return cells;
  trainer_.train_by({[cells = cells.get()](const wire::SampleRange& samples, std::span<float> into) {
                       return cells->train(samples, into);
                     },
                     [cells = cells.get()] { return cells->evaluate(); },
                     [cells = cells.get()](std::span<const int> text) { return cells->score_next(text); }});
  return cells;
}

void ProjectRun::start(const Permission& permission, Listener listener) {
  listener_ = std::move(listener);
  trainer_.on_data([this] { threads_.deliver([this](TimePoint now) { session_.retry_now(now); }); });
  obey(permission);
  session_.start(threads_.now());
  after_event();
}

void ProjectRun::stop() {
  threads_.stop();
  fetcher_.stop();
  if (cells_ != nullptr) cells_->stop(std::move(network_));
  network_.reset();  // the others notice at once
  trainer_.stop();
}

void ProjectRun::finish_on_trainer(bool keep_state) {
  threads_.end_steps();
  if (cells_ != nullptr) cells_->finish_on_trainer(keep_state);
  if (keep_state) state_.save_last(session_.view(threads_.now()));
  trainer_.close();
  reach_.close();
}

void ProjectRun::obey(const Permission& permission) {
  const TimePoint now = threads_.now();
  trainer_.obey(permission);
  if (coordinator_.obey(permission)) session_.tell_soon(now);
  if (!permission.coordinator) fetcher_.leave_coordinator();
  reach_.obey(permission);
  limit_traffic(permission);
  state_.serve(permission.train);
  if (!permission.train) fetcher_.interrupt();
  if (cells_ != nullptr) cells_->obey(permission);  // before a batch begins
  session_.set_paused(now, !permission.train, permission.reason);
  after_event();
}

// The permission comes often, and each change waits for the net thread.
void ProjectRun::limit_traffic(const Permission& permission) {
  const std::pair limits(permission.upload_bytes_per_s, permission.download_bytes_per_s);
  if (limits == traffic_limits_) return;
  traffic_limits_ = limits;
  network_->limit(limits.first, limits.second);
}

void ProjectRun::after_event() {
  const TimePoint now = threads_.now();
  trainer_.rest(session_.view(now).activity.phase == session::Phase::paused);
  TimePoint next = session_.next_deadline(now);
  if (cells_ != nullptr) next = std::min(next, cells_->next_deadline(now));
  threads_.set_timer(next, [this](TimePoint due) {
    session_.on_timer(due);
    if (cells_ != nullptr) cells_->on_timer(due);
  });
  if (listener_.changed) listener_.changed();
}

void ProjectRun::sample_text(const std::string& prompt, int count, double temperature,
                             std::function<void(Result<std::string>)> done) {
  if (context_.manifest.model.experts.piece == wire::kNoPiece) {
    return done(
        Error{ErrorCode::unsupported,
              "sample text: this computer holds experts of the model alone, because its other part does not fit "
              "into the memory that you allow; ask a computer that has more"});
  }
  trainer_.sample_text(prompt, count, temperature, std::move(done));
}

void ProjectRun::send_heartbeat(const wire::Heartbeat& session_heartbeat) {
  wire::Heartbeat heartbeat = session_heartbeat;
  reach_.tell(heartbeat);
  heartbeat.computing.device = trainer_.device_for_others();
  if (cells_ != nullptr) cells_->tell(heartbeat);
  coordinator_.send(std::move(heartbeat));
}

void ProjectRun::on_heartbeat_answered(TimePoint now, const Result<wire::HeartbeatReply>& reply) {
  if (!reply.ok()) {
    if (reply.error().code == ErrorCode::not_found) listener_.not_served(context_.manifest.run_id);
    return session_.on_heartbeat_failed(now, reply.error());
  }
  note_line();
  reach_.follow(*reply);
  network_->deny(reply->named.revoked);
  network_->name_newcomers(reply->named.newcomers, [this] {
    threads_.deliver([this](TimePoint due) {
      session_.tell_soon(due);
      if (cells_ != nullptr) cells_->tell_soon(due);
    });
  });
  if (cells_ != nullptr) cells_->follow(reply->named.cells);
  session_.on_heartbeat_reply(now, *reply);
}

void ProjectRun::note_line() {
  const transport::NetworkStats stats = network_->stats();
  std::vector<session::Session::Received> received;
  for (const transport::PeerSpeed& peer : stats.peers) {
    if (peer.download_bytes_per_s > 0) received.push_back({peer.peer, peer.download_bytes_per_s});
  }
  if (cells_ != nullptr) {
    cells_->set_line(stats.upload_bytes_per_s, stats.download_bytes_per_s, to_seconds(stats.round_trip), received);
  }
  session_.set_line(stats.upload_bytes_per_s, stats.download_bytes_per_s, to_seconds(stats.round_trip),
                    std::move(received));
}

void ProjectRun::adopt_certificate(const std::string& pem) {
  if (const Status saved = context_.files.save_project(context_.project); !saved.ok()) {
    log_warning("keep the new certificate: {}", saved.error().message);
  }
  auto tls = crypto::TlsContext::peer(context_.project.ca_pem, {pem, context_.key});
  if (tls.ok()) network_->renew_certificate(std::move(*tls));
}

void ProjectRun::report_unusable(const wire::UnusableSamples& samples) { coordinator_.report_unusable(samples); }

void ProjectRun::start_batch(const wire::SampleRange& samples, const session::BatchTarget& target) {
  threads_.on_trainer([this, samples, order = rounds_.next_batch(target)] {
    auto report = trainer_.train(order, samples);
    if (!report.ok()) gossip_.on_batch_failed();
    threads_.deliver([this, report = std::move(report)](TimePoint now) {
      if (report.ok()) rounds_.on_batch(report->samples);
      session_.on_batch_done(now, report);
    });
  });
}

void ProjectRun::start_averaging(const wire::GroupInfo& group, averaging::Rank self,
                                 const averaging::ContributionTerms& terms) {
  peers_.begin_round(group, self);
  gossip_.on_round_planned(group);
  rounds_.average(group, self, terms, state_.memory());
}

void ProjectRun::start_step(RoundIndex round) {
  threads_.on_stepper([this, round, own = rounds_.payload().own()] {
    const rounds::RoundPayload& payload = rounds_.payload();
    const double distance = payload.consensus_distance(round, own, trainer_.process().state());
    auto digest = state_.step(round, payload.average());
    threads_.deliver([this, digest = std::move(digest), distance](TimePoint now) {
      rounds_.on_stepped(distance, digest.ok());
      session_.on_step_done(now, digest);
    });
  });
}

void ProjectRun::start_evaluation() {
  threads_.on_trainer([this] {
    threads_.deliver(
        [this, evaluation = trainer_.evaluate()](TimePoint now) { session_.on_evaluated(now, evaluation); });
  });
}

void ProjectRun::forget_previous_state() {
  threads_.on_stepper([this] { state_.forget_previous(); });
}

void ProjectRun::fetch_state(std::span<const wire::Endpoint> donors, RoundIndex round, const Digest& digest) {
  gossip_.end_round();
  fetcher_.from_donors(donors, round, digest);
}

void ProjectRun::fetch_checkpoint(const wire::Artefact& file, RoundIndex round, const Digest& digest) {
  gossip_.end_round();
  fetcher_.from_coordinator(file, round, digest);
}

void ProjectRun::make_initial_state(const Digest& digest) {
  gossip_.end_round();
  fetcher_.make_initial(digest);
}

void ProjectRun::restore_previous_state(RoundIndex round, const Digest& digest) {
  gossip_.end_round();
  fetcher_.restore_previous(round, digest);
}

void ProjectRun::send_checkpoint(RoundIndex round, const Digest& digest) {
  if (coordinator_.allowed()) fetcher_.send_copy(round, digest);
}

void ProjectRun::record_round(const wire::RoundReport& report, Duration round_duration) {
  wire::RoundReport kept = report;
  kept.measured.reset();  // long, and useless once the round is over
  reports_.record(kept, round_duration);
  std::map<PeerId, SampleCount> samples;
  wire::HistoryPoint point;
  for (const wire::Contribution& contribution : report.contributions) {
    samples[contribution.peer] = contribution.samples;
    point.swarm_samples += contribution.samples;
  }
  peers_.end_round(samples);
  const auto reply = session_.view(threads_.now()).last_reply;
  point.round = report.round;
  point.samples = samples[context_.key.peer_id()];
  point.loss = report.loss;
  point.credit = reply != nullptr ? reply->credited.credit : 0;
  point.bytes = report.bytes_sent + report.bytes_received;
  listener_.round_done(point);
  gossip_.begin_round(report, rounds_.consensus_distance());
}

void ProjectRun::forget_reports(RoundIndex below) { reports_.forget(below); }

void ProjectRun::withdraw_reports(RoundIndex from) { reports_.withdraw(from); }

std::optional<Digest> ProjectRun::prove_state(const Hash128& challenge, const Digest& digest) {
  return state_.prove(challenge, digest);
}

// Whether it was there shows with the first audit.
bool ProjectRun::keep_audited_state(RoundIndex round) {
  threads_.on_stepper([this, round] { state_.keep_audited(round); });
  return true;
}

void ProjectRun::forget_audited_state(RoundIndex round) {
  threads_.on_stepper([this, round] { state_.forget_audited(round); });
}

void ProjectRun::start_audit(const session::Audits::Piece& piece) {
  threads_.on_trainer([this, round = piece.round, state = piece.state, samples = piece.samples, parts = piece.parts] {
    const auto audit = [&]() -> Result<std::vector<double>> {
      STARLING_ASSIGN(const std::span<const float> parameters, state_.audited(round, state));
      return trainer_.audit(samples, parts, parameters);
    };
    threads_.deliver([this, sketches = audit()](TimePoint now) { session_.on_audited(now, sketches); });
  });
}

std::optional<wire::OwnSketches> ProjectRun::own_sketches(RoundIndex /*round*/, const Hash128& seed) {
  return rounds_.payload().own_sketches(seed);
}

// By the machine's clock, as the note is.
bool ProjectRun::passed_self_test(std::int64_t missed) {
  if (std::exchange(missed_.first, missed) != missed) {
    missed_.second = wire::first_told_of_miss(context_.files.dir(), missed, SystemClock().wall_now());
  }
  return wire::self_test_passed_since(context_.files.dir(), missed_.second);
}

void ProjectRun::save_checkpoint(RoundIndex round, const Digest& digest) {
  threads_.on_stepper([this, round, digest] {
    threads_.deliver([this, saved = state_.save(round, digest)](TimePoint) { checkpoint_problem_.note(saved); });
  });
}

void ProjectRun::count_traffic(TrafficCounters& counters) const {
  if (network_ == nullptr) return;
  const transport::NetworkStats stats = network_->stats();
  // Relayed bytes come in and go out again.
  const double relayed = 2 * net::kOnTheLine * static_cast<double>(stats.relay.serving.bytes_total);
  counters.averaging = stats.round_wire_bytes + static_cast<std::int64_t>(relayed);
  counters.models = stats.state_wire_bytes + fetcher_.wire_bytes() + trainer_.wire_bytes();
  if (cells_ != nullptr) counters.models += cells_->wire_bytes();
}

wire::PeersView ProjectRun::peers() const {
  if (network_ == nullptr) return peers_.view({});
  return peers_.view(network_->stats().peers);
}

void ProjectRun::describe(wire::DaemonStatus& status) const {
  describe_session(session_.view(threads_.now()), status);
  for (const std::string* problem : {&reports_.problem(), &checkpoint_problem_.text()}) {
    if (!problem->empty()) status.problems.push_back(*problem);
  }
  if (!coordinator_.notice().empty()) status.problems.push_back("the coordinator says: " + coordinator_.notice());
  status.problems.insert(status.problems.end(), state_.damaged().begin(), state_.damaged().end());
  status.membership.run_id = context_.manifest.run_id;
  status.membership.run_title = context_.manifest.title;
  status.swarm.target_batch_size = context_.manifest.target_batch_size;
  status.local_steps.mixings = gossip_.mixed();
  status.local_steps.mixings_missed = gossip_.missed();
  status.local_steps.spread = rounds_.consensus_distance();
  if (network_ == nullptr) return;
  trainer_.describe(status.computing);
  if (cells_ != nullptr) {
    status.cells = cells_->status();
    wait_for_cells(status);
  }
  const transport::NetworkStats stats = network_->stats();
  status.membership.listen_port = network_->port();
  reach_.describe(stats, status.reach);
  status.network.upload_bytes_per_s = stats.upload_bytes_per_s;
  status.network.download_bytes_per_s = stats.download_bytes_per_s;
  status.network.bytes_sent = stats.round_bytes_sent + stats.state_bytes_sent + stats.call_bytes_sent;
  status.network.bytes_received = stats.round_bytes_received + stats.state_bytes_received + stats.call_bytes_received;
}

std::string ProjectRun::limit_warning(const Permission& permission) const {
  ExchangeNeeds needs;
  needs.traffic = wire::round_traffic(context_.manifest);
  const auto reply = session_.view(threads_.now()).last_reply;
  if (reply != nullptr && reply->swarm.samples_per_s > 0) {
    needs.batch_s = static_cast<double>(context_.manifest.target_batch_size) / reply->swarm.samples_per_s;
    needs.swarm_size = reply->swarm.size;
  }
  return daemon::limit_warning(needs, permission.upload_bytes_per_s, permission.download_bytes_per_s);
}

}  // namespace starling::daemon
