#include "client/daemon/cell_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "client/daemon/state_trust.h"
#include "shared/base/files.h"
#include "shared/base/hash.h"
#include "shared/base/log.h"
#include "shared/manifest/signed_report.h"
#include "shared/protocol/heartbeat.h"
#include "shared/protocol/heartbeat_reply.h"
#include "shared/swarm/plausible.h"

namespace starling::daemon {
namespace {

// A cell's state is in other places, too: with its other holders, and at the coordinator now and then.
constexpr Duration kCheckpointInterval = std::chrono::minutes(2);

constexpr std::string_view kCheckpoints = "checkpoints";

// The time between two batches of a cell: moving its gradient takes a fiftieth of it, and memory carries five billion
// bytes a second, twenty for each parameter.
Duration gathering_time(std::size_t parameters) {
  constexpr double kSecondsPerParameter = 50 * 20 / 5e9;
  return std::min<Duration>(from_seconds(kSecondsPerParameter * static_cast<double>(parameters)),
                            std::chrono::seconds(1));
}

session::SessionOptions session_options(const RunContext& context, const storage::KnownState& known, int listen_port,
                                        const CorrectedClock& clock) {
  const wire::RunManifest& manifest = context.manifest;
  session::SessionOptions options;
  options.run_id = manifest.run_id;
  options.self = context.key.peer_id();
  options.micro_batch_size = manifest.micro_batch_size;
  options.samples_max = swarm::member_samples_max(manifest.target_batch_size, manifest.micro_batch_size);
  options.listen_port = listen_port;
  options.checkpoint_interval = kCheckpointInterval;
  options.initial_state_digest = manifest.initial_state_digest;
  options.trust = trust_of(context, known);
  const auto piece = static_cast<std::uint64_t>(manifest.model.experts.piece);
  options.seed = mix64(mix64(static_cast<std::uint64_t>(clock.wall_now().unix_ms) ^ options.self.bytes[0]) ^ piece);
  return options;
}

// The cell is held, and its memory is `memory`.
Result<CellParts> open_held(RunContext context, CellWork& work, std::span<float> memory, const Clock& clock) {
  const wire::CellIndex cell = context.manifest.model.experts.piece;
  CellTrainer::Source source{[&work, cell](std::span<float> into) { return work.take_gradient(cell, into); },
                             [&work, cell] { work.on_stepped(cell); }};
  auto trainer = std::make_unique<CellTrainer>(context.manifest, memory, std::move(source), clock);
  const session::StateLayout layout = trainer->layout();
  StateParts state{
      std::make_unique<SnapshotKeeper>(trainer->state(), wire::state_form(context.manifest)),
      std::make_shared<std::atomic<bool>>(true),
      storage::CheckpointStore(context.folder / kCheckpoints, context.manifest.run_id, layout.parameter_count,
                               layout.optimizer_vectors),
      storage::PreviousState(context.folder),
  };
  STARLING_ASSIGN(session::InitialState initial, load_state(context.manifest, *trainer, state));
  STARLING_ASSIGN(storage::RoundJournal journal, storage::RoundJournal::open(context.folder, context.manifest.run_id));
  initial.unacknowledged = journal.pending();
  const storage::KnownState known = known_state(context.folder, context.manifest.run_id);
  return CellParts{std::move(context), std::move(trainer), std::move(state),
                   std::move(journal), std::move(initial), known};
}

}  // namespace

Result<CellParts> open_cell(const RunContext& trunk, CellWork& work, wire::CellIndex cell, const Clock& clock) {
  RunContext context = trunk;
  context.manifest = wire::piece_of(trunk.manifest, cell);
  context.folder = trunk.folder / "cells" / fmt::format("c{}", cell);
  STARLING_TRY(ensure_directory(context.folder));
  STARLING_ASSIGN(const std::span<float> memory, work.hold(cell));
  Result<CellParts> opened = open_held(std::move(context), work, memory, clock);
  if (!opened.ok()) work.let_go(cell);
  return opened;
}

CellRun::CellRun(const CellMeans& means, wire::CellIndex cell, CellParts parts)
    : means_(means),
      cell_(cell),
      threads_(means.threads, /*delayed_steps=*/false,
               [this] {
                 serve_if_synced();
                 means_.after_event();
               }),
      context_(std::move(parts.context)),
      trainer_(std::move(parts.trainer)),
      state_(
          threads_, context_.manifest, *trainer_,
          [this](std::span<float> into) { return trainer_->make_initial_state(into); }, std::move(parts.state)),
      coordinator_(
          threads_, context_.calls,
          {means.outgoing.heartbeat,
           [key = context_.key](wire::Heartbeat& heartbeat) {
             for (auto& report : heartbeat.reports) manifest::sign_report(heartbeat.run_id, key, report);
           },
           [this](TimePoint now, const Result<wire::HeartbeatReply>& reply) { on_heartbeat_answered(now, reply); },
           [](const std::string& /*pem*/) {}}),  // the trunk's contact adopts it
      fetcher_(threads_, context_, state_, means.network,
               [this](TimePoint now, RoundIndex round, const Digest& digest, const Status& status) {
                 session_.on_state_fetched(now, round, digest, status);
               }),
      rounds_(
          threads_, context_.manifest, averager_of(means.network, cell),
          {means.outgoing.contribution,
           [this](TimePoint now, const averaging::AveragingOutcome& outcome) { session_.on_averaged(now, outcome); }}),
      reports_(std::move(parts.journal)),
      checkpoint_problem_("save a cell of the model"),
      session_(session_options(context_, parts.known, means.network.port(), threads_.clock()), std::move(parts.initial),
               *this) {
  state_.put_on(means_.shelf);
}

CellRun::~CellRun() = default;

void CellRun::start(const Permission& permission) {
  obey(permission);
  session_.start(threads_.now());
  serve_if_synced();
}

void CellRun::obey(const Permission& permission) {
  const TimePoint now = threads_.now();
  if (coordinator_.obey(permission)) session_.tell_soon(now);
  if (!permission.coordinator) fetcher_.leave_coordinator();
  state_.serve(permission.train);
  if (!permission.train) fetcher_.interrupt();
  session_.set_paused(now, !permission.train, permission.reason);
  serve_if_synced();
}

void CellRun::on_timer(TimePoint now) {
  if (has_weights_ && now >= gathers_until_) session_.retry_now(now);
  session_.on_timer(now);
  serve_if_synced();
}

void CellRun::on_weights(TimePoint now) {
  has_weights_ = true;
  if (now >= gathers_until_) session_.retry_now(now);
  serve_if_synced();
}

void CellRun::tell_soon(TimePoint now) {
  session_.tell_soon(now);
  serve_if_synced();
}

void CellRun::set_line(double upload_bytes_per_s, double download_bytes_per_s, double round_trip_s,
                       std::vector<session::Session::Received> received) {
  session_.set_line(upload_bytes_per_s, download_bytes_per_s, round_trip_s, std::move(received));
}

std::function<void()> CellRun::farewell() {
  if (last_.run_id.empty()) return [] {};  // it has never called
  return coordinator_.farewell(std::move(last_));
}

void CellRun::stop() {
  threads_.stop();
  fetcher_.stop();
  rounds_.stop();
}

void CellRun::finish_on_trainer(bool keep_state) {
  if (std::exchange(is_finished_, true)) return;
  if (keep_state) state_.save_last(session_.view(threads_.now()));
  state_.take_off(means_.shelf);
  means_.work.let_go(cell_);
  if (keep_state) return;
  std::error_code absent;
  std::filesystem::remove_all(context_.folder / kCheckpoints, absent);
}

void CellRun::serve_if_synced() {
  const session::Session::View view = session_.view(threads_.now());
  const std::optional<RoundIndex> serves = view.synced ? std::optional(view.state_round) : std::nullopt;
  if (serves == served_) return;
  served_ = serves;
  on_trainer_soon([this, serves] {
    if (serves) {
      means_.work.serve_cell(cell_, *serves);
    } else {
      means_.work.stop_serving(cell_);
    }
  });
}

void CellRun::on_trainer_soon(std::function<void()> task) {
  means_.work.soon([this, task = std::move(task)] {
    if (!threads_.stopped()) task();
  });
}

void CellRun::send_heartbeat(const wire::Heartbeat& session_heartbeat) {
  wire::Heartbeat heartbeat = session_heartbeat;
  means_.complete(heartbeat);
  last_ = heartbeat;
  coordinator_.send(std::move(heartbeat));
}

void CellRun::on_heartbeat_answered(TimePoint now, const Result<wire::HeartbeatReply>& reply) {
  if (!reply.ok()) return session_.on_heartbeat_failed(now, reply.error());
  if (reply->named.newcomers) means_.name_newcomers(*reply->named.newcomers);
  session_.on_heartbeat_reply(now, *reply);
}

// Waiting for gradients is no computation: a meeting may begin meanwhile. So a batch ends at once if there are none,
// and on_weights() has the session try again. A batch that has some is taken between two tasks of the trainer. Callers
// bring some with each window, and moving a whole cell's gradient for each of them would cost more than their calls.
void CellRun::start_batch(const wire::SampleRange& samples, const session::BatchTarget& target) {
  const rounds::BatchOrder order = rounds_.next_batch(target);
  const TimePoint now = threads_.now();
  const bool takes = has_weights_ && now >= gathers_until_;
  if (takes) {
    has_weights_ = false;
    gathers_until_ = now + gathering_time(trainer_->layout().parameter_count);
  }
  if (!takes) {
    threads_.deliver([this](TimePoint now) {
      session_.on_batch_done(now, Error{ErrorCode::failed_precondition, "waiting for gradients of others' samples"});
    });
    return;
  }
  on_trainer_soon([this, samples, order] {
    if (order.clears) std::fill(order.into.begin(), order.into.end(), 0.0F);
    threads_.deliver([this, report = trainer_->train_batch(samples, order.into)](TimePoint now) {
      if (report.ok()) rounds_.on_batch(report->samples);
      session_.on_batch_done(now, report);
    });
  });
}

void CellRun::start_averaging(const wire::GroupInfo& group, averaging::Rank self,
                              const averaging::ContributionTerms& terms) {
  rounds_.average(group, self, terms, state_.memory());
}

void CellRun::start_step(RoundIndex round) {
  on_trainer_soon([this, round] {
    threads_.deliver([this, digest = state_.step(round, rounds_.payload().average())](TimePoint now) {
      rounds_.on_stepped(0, digest.ok());
      session_.on_step_done(now, digest);
    });
  });
}

void CellRun::forget_previous_state() {
  on_trainer_soon([this] { state_.forget_previous(); });
}

void CellRun::start_evaluation() {
  threads_.deliver([this](TimePoint now) { session_.on_evaluated(now, trainer_->evaluate()); });
}

void CellRun::fetch_state(std::span<const wire::Endpoint> donors, RoundIndex round, const Digest& digest) {
  fetcher_.from_donors(donors, round, digest);
}

void CellRun::fetch_checkpoint(const wire::Artefact& file, RoundIndex round, const Digest& digest) {
  fetcher_.from_coordinator(file, round, digest);
}

void CellRun::make_initial_state(const Digest& digest) { fetcher_.make_initial(digest); }

void CellRun::restore_previous_state(RoundIndex round, const Digest& digest) {
  fetcher_.restore_previous(round, digest);
}

void CellRun::send_checkpoint(RoundIndex round, const Digest& digest) {
  if (coordinator_.allowed()) fetcher_.send_copy(round, digest);
}

void CellRun::record_round(const wire::RoundReport& report, Duration round_duration) {
  wire::RoundReport kept = report;
  kept.measured.reset();  // long, and useless once the round is over
  reports_.record(kept, round_duration);
  last_.reports.push_back(report);
  last_.state_round = report.round + 1;
  last_.state_digest = report.state_digest;
}

void CellRun::save_checkpoint(RoundIndex round, const Digest& digest) {
  on_trainer_soon([this, round, digest] {
    threads_.deliver([this, saved = state_.save(round, digest)](TimePoint) { checkpoint_problem_.note(saved); });
  });
}

std::optional<Digest> CellRun::prove_state(const Hash128& challenge, const Digest& digest) {
  return state_.prove(challenge, digest);
}

}  // namespace starling::daemon
