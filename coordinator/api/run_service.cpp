#include "coordinator/api/run_service.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "coordinator/api/audit_rows.h"
#include "coordinator/api/electorate_rows.h"
#include "coordinator/api/run_recovery.h"
#include "coordinator/api/run_report.h"
#include "coordinator/api/state_chain_rows.h"
#include "coordinator/core/audit_standing.h"
#include "coordinator/core/cell_book.h"
#include "coordinator/core/heartbeat_decision.h"
#include "coordinator/core/receipt_book.h"
#include "shared/base/log.h"
#include "shared/crypto/secrets.h"
#include "shared/manifest/signed_manifest.h"
#include "shared/protocol/heartbeat.h"
#include "shared/run/cells.h"
#include "shared/run/epochs.h"
#include "shared/run/low_rank.h"

namespace starling::api {
namespace {

// The ledger's own bounds on a line; far above anything plausible.
constexpr double kMicroCreditMax = 1e12;
constexpr Duration kDealEvery = std::chrono::milliseconds(250);
constexpr double kNatsPerBit = 0.69314718055994530942;

db::MicroCredit micro_credit(double flops_per_sample, SampleCount samples) {
  const double credit =
      core::credit_earned(flops_per_sample, samples) * static_cast<double>(db::kMicroCreditsPerCredit);
  return static_cast<db::MicroCredit>(std::llround(std::min(credit, kMicroCreditMax)));
}

// Rounds for which credit of the run waits for audits of its work; 0: it is final at once.
RoundIndex credit_wait(const wire::RunManifest& manifest) { return core::rounds_pending(manifest.round.audit_rate); }

std::string_view ground_of(const core::StateAdopted& adopted) {
  switch (adopted.ground) {
    case core::StateAdopted::Ground::vouched:
      return "the state that most accounts of the last round hold";
    case core::StateAdopted::Ground::decided:
      return "an earlier state of its own that members hold";
    case core::StateAdopted::Ground::copy:
      return "the copy that is kept here";
  }
  return "";
}

db::RoundResult round_result(const wire::RunManifest& manifest, std::int64_t rollbacks,
                             const core::RoundDecided& round) {
  db::RoundResult result;
  result.rollbacks = rollbacks;
  result.record = {manifest.run_id,    round.round,     round.group,        round.wall, 0,
                   round.state_digest, round.survivors, round.averaging_ms, round.loss};
  if (round.successor) result.successor = row_of(*round.successor);
  result.link = round.chain.link;
  result.statement = statement_row(round.chain);
  result.confirmed = round.confirmed;
  result.counted = round.counted;
  result.wait = credit_wait(manifest);
  result.final_below = round.final_below;
  for (const core::CreditedContribution& contribution : round.contributions) {
    result.record.samples += contribution.samples;
    result.contributions.push_back({contribution.peer, contribution.account, contribution.samples,
                                    micro_credit(manifest.flops_per_sample, contribution.samples), round.wall});
  }
  return result;
}

std::vector<db::LeasedSamples> rows_of(const std::vector<core::LeasesDealt>& dealt) {
  std::vector<db::LeasedSamples> rows;
  for (const core::LeasesDealt& one : dealt) {
    for (const wire::SampleLease& lease : one.leases) {
      rows.push_back({one.peer, lease.number, one.process, lease.epoch, lease.first, lease.count, lease.last_round});
    }
  }
  return rows;
}

// Takes over settings that may change while a run is served. Volunteers with one version and volunteers with another
// train one and the same model.
void take_changes(const wire::RunManifest& anew, wire::RunManifest& manifest) {
  manifest.title = anew.title;
  manifest.client_min = anew.client_min;
  manifest.data.mirrors = anew.data.mirrors;
  manifest.data.mirror_ca = anew.data.mirror_ca;
}

// Cells run while their run does; they are never complete.
wire::RunState cells_state(wire::RunState state) {
  return state == wire::RunState::running ? wire::RunState::running : wire::RunState::paused;
}

}  // namespace

// A run being served, or a cell of its model, which is served like one. The manifest never changes, except for settings
// that an operator may sign again (`take_changes`): those, the envelope, the core and the dealing of cells belong to
// the service's mutex.
struct RunService::Active {
  std::string envelope;
  wire::RunManifest manifest;             // the trunk's, where the model is cut into cells
  std::shared_ptr<ProjectSigner> signer;  // null: states are not signed
  std::unique_ptr<core::RunCoordinator> core;
  wire::RunState set_state = wire::RunState::created;  // last taken over from the database
  bool retired = false;                                // its members hear that it is over, and nobody else hears of it
  std::int64_t rollbacks = 0;                          // the run's, which the core knows of
  std::int64_t newest_reversal = 0;                    // the newest that the core's sums of credit hold
  std::vector<db::Lane> assigned;                      // lanes that the store has not been asked to take
  std::vector<core::LeasesDealt> dealt;                // leases that the store has not been asked to take
  std::vector<std::shared_ptr<Active>> cells{};        // by number; none where the model is not cut
  std::optional<core::CellBook> dealing{};             // who holds them
  std::shared_ptr<core::ReceiptBook> receipts{};       // for their credit
  std::optional<wire::RunManifest> whole{};            // the manifest with its signature, where the model is cut

  // The dealing of cells hears who has the state of this one; nothing where it is no cell.
  void note_holders(const Active& cell) {
    const wire::ModelPiece piece = cell.manifest.model.experts.piece;
    if (dealing && piece >= 0) dealing->set_ready(piece, cell.core->holders());
  }
};

RunService::RunService(const Parts& parts, core::CoordinatorOptions options)
    : parts_(parts), options_(std::move(options)) {}
RunService::~RunService() = default;

const db::Run* choose_run(const std::vector<db::Run>& runs, const RunId& current) {
  const auto is_running = [](const db::Run& run) { return run.state == db::RunState::running; };
  const auto served = std::find_if(runs.begin(), runs.end(), [&](const db::Run& run) { return run.run_id == current; });
  if (served != runs.end() && is_running(*served)) return &*served;
  const auto running = std::find_if(runs.begin(), runs.end(), is_running);
  if (running != runs.end()) return &*running;
  const auto is_retired = [](const db::Run& run) { return run.retired.unix_ms != 0; };
  if (served != runs.end() && !is_retired(*served)) return &*served;
  const auto newest = std::find_if_not(runs.rbegin(), runs.rend(), is_retired);
  if (newest != runs.rend()) return &*newest;
  return served != runs.end() ? &*served : nullptr;
}

Status RunService::poll() {
  STARLING_ASSIGN(const std::vector<db::Run> runs, parts_.stores.training.runs.list());
  std::shared_ptr<Active> active;
  {
    MutexLock lock(mutex_);
    active = active_;
  }
  const db::Run* run = choose_run(runs, active ? active->manifest.run_id : RunId());
  if (run == nullptr) {
    MutexLock lock(mutex_);
    looked_ = true;
    return {};
  }
  if (active && active->manifest.run_id == run->run_id && active->rollbacks != run->rollbacks) {
    log_warning("run '{}' is rolled back; it goes on in round {}", run->run_id, run->round);
    step_down();
    active.reset();
    rolled_back_ = true;
  }
  // Writes of the time before are dropped first: one that still came would not be recovered with the rest.
  if (rolled_back_ && rounds_.waiting() + others_.waiting() > 0) return {};
  rolled_back_ = false;
  if (!active || active->manifest.run_id != run->run_id) return activate(*run);
  STARLING_TRY(follow_reversals(active));
  for (const auto& cell : active->cells) STARLING_TRY(follow_reversals(cell));
  if (active->envelope != run->manifest_envelope) STARLING_TRY(follow_signature(active, *run));
  // Only a change is passed on: the core may know already that the run is complete.
  const wire::RunState state = state_of(*run);
  MutexLock lock(mutex_);
  active->retired = run->retired.unix_ms != 0;
  if (active->set_state == state) return {};
  active->set_state = state;
  active->core->set_state(state);
  for (const auto& cell : active->cells) cell->core->set_state(cells_state(state));
  log_info("run '{}' is {}", run->run_id, wire::to_string(state));
  return {};
}

// `run` is the row of the run, or of a cell. receipts: the run's, where its model is cut into cells.
Result<std::shared_ptr<RunService::Active>> RunService::take_up(const db::Run& run, wire::RunManifest manifest,
                                                                std::shared_ptr<ProjectSigner> signer,
                                                                const std::shared_ptr<core::ReceiptBook>& receipts) {
  auto active = std::make_shared<Active>();
  // read before the sums that it may be in
  STARLING_ASSIGN(active->newest_reversal, parts_.stores.credit.corrections.newest_reversal());
  STARLING_ASSIGN(const core::RecoveredRun recovered, recover_run(parts_.stores, run));
  active->envelope = run.manifest_envelope;
  active->manifest = std::move(manifest);
  active->signer = std::move(signer);
  active->set_state = recovered.state;
  active->rollbacks = run.rollbacks;
  const wire::ModelPiece piece = active->manifest.model.experts.piece;
  const bool is_cell = piece >= 0;
  core::CoordinatorOptions options = options_;
  if (is_cell) {
    core::adapt_to_cell(active->manifest.model.experts.cells.holders, options);
    options.earning = [receipts, piece](AccountId account, SampleCount samples) {
      return receipts->settle(piece, account, samples);
    };
  } else {
    active->receipts = receipts;
  }
  options.nonce = crypto::random_u64();
  crypto::fill_random(options.audit_secret.bytes);
  options.signer = active->signer;
  const std::int64_t floats = wire::averaged_floats(active->manifest);
  active->core = std::make_unique<core::RunCoordinator>(active->manifest, floats, recovered, parts_.hosts, options);
  if (!is_cell) log_info("serving run '{}', {}, at round {}", run.run_id, wire::to_string(recovered.state), run.round);
  warn_of_broken_chain(recovered);
  MutexLock lock(mutex_);
  if (recovered.chain.statement.empty()) carry_out(active, active->core->state_again(parts_.clock.wall_now()));
  return active;
}

// A cell has no state of its own: it runs while its run does.
Status RunService::take_up_cells(Active& active, const wire::RunManifest& manifest) {
  core::CellPlan plan{{},
                      manifest.model.experts.cells.holders,
                      1 + static_cast<std::int64_t>(crypto::random_u64() % (wire::kMessageCountMax / 2))};
  const std::size_t count = wire::cells_of(manifest.model).size();
  for (std::size_t number = 0; number < count; ++number) {
    const auto cell = static_cast<wire::CellIndex>(number);
    const RunId id = wire::cell_run_id(manifest.run_id, cell);
    STARLING_ASSIGN(const db::Run row, parts_.stores.training.runs.find(id));
    STARLING_ASSIGN(auto taken, take_up(row, wire::piece_of(manifest, cell), active.signer, active.receipts));
    taken->core->set_state(cells_state(active.set_state));
    active.cells.push_back(std::move(taken));
    plan.bytes.push_back(wire::held_bytes(manifest, cell));
  }
  active.dealing.emplace(std::move(plan));
  active.whole = manifest;
  return {};
}

Status RunService::activate(const db::Run& run) {
  const std::string what = fmt::format("run '{}'", run.run_id);
  const auto envelope = manifest::decode_envelope(run.manifest_envelope);
  if (!envelope) return envelope.error().prefixed(what);
  auto manifest = manifest::verify_manifest(*envelope, parts_.manifest_key);
  if (!manifest) return manifest.error().prefixed(what);
  if (run.round == 0 && manifest->initial_state_digest.is_zero()) {
    return Error{
        ErrorCode::failed_precondition,
        what + ": its manifest does not name the state that it begins with; run: starling-coordinator run sign"};
  }
  std::shared_ptr<ProjectSigner> signer;
  STARLING_TRY(take_signing_key(signer));
  const bool is_cut = wire::has_cells(manifest->model);
  std::shared_ptr<core::ReceiptBook> receipts;
  if (is_cut) {
    receipts = std::make_shared<core::ReceiptBook>(
        wire::cells_of(manifest->model).size(), core::kReceiptRoundsAhead * manifest->target_batch_size, parts_.hosts);
  }
  auto active = take_up(run, is_cut ? wire::piece_of(*manifest, wire::kTrunk) : *manifest, std::move(signer), receipts);
  if (!active) return active.error().prefixed(what);
  if (is_cut) {
    const Status taken = take_up_cells(**active, *manifest);
    if (!taken.ok()) return taken.error().prefixed(what);
    log_info("{}: its model is cut into {} cells", what, (*active)->cells.size());
  }
  MutexLock lock(mutex_);
  looked_ = true;
  active_ = std::move(*active);
  return {};
}

// Takes over a new signature of the run: by the project's next key, or with other mirrors, title or oldest version.
Status RunService::follow_signature(const std::shared_ptr<Active>& active, const db::Run& run) {
  const std::string what = fmt::format("run '{}', signed anew", run.run_id);
  const auto envelope = manifest::decode_envelope(run.manifest_envelope);
  if (!envelope) return envelope.error().prefixed(what);
  const auto manifest = manifest::verify_manifest(*envelope, parts_.manifest_key);
  if (!manifest) return manifest.error().prefixed(what);
  log_info("{}", what);
  MutexLock lock(mutex_);
  take_changes(*manifest, active->manifest);
  if (active->whole) take_changes(*manifest, *active->whole);
  const auto before = manifest::decode_envelope(active->envelope);
  active->envelope = run.manifest_envelope;
  if (before && before->key_id == envelope->key_id) return {};
  STARLING_TRY(take_signing_key(active->signer));
  carry_out(active, active->core->state_again(parts_.clock.wall_now()));
  for (const auto& cell : active->cells) carry_out(cell, cell->core->state_again(parts_.clock.wall_now()));
  return {};
}

Status RunService::take_signing_key(std::shared_ptr<ProjectSigner>& signer) const {
  if (!parts_.signing_key) return {};
  STARLING_ASSIGN(manifest::SigningKey key, parts_.signing_key());
  if (signer == nullptr) {
    signer = std::make_shared<ProjectSigner>(std::move(key));
  } else {
    signer->replace(std::move(key));
  }
  return {};
}

// Members hear of credit that an operator has taken back, too. It is read between two rounds' writes, so that the sums
// hold exactly the rounds that the core knows to be stored.
Status RunService::follow_reversals(const std::shared_ptr<Active>& active) {
  STARLING_ASSIGN(const std::int64_t newest, parts_.stores.credit.corrections.newest_reversal());
  {
    MutexLock lock(mutex_);
    if (active->newest_reversal == newest) return {};
    active->newest_reversal = newest;
  }
  rounds_.add("read the ledger's sums again", in_this_term([this, active]() -> Status {
                STARLING_ASSIGN(const auto sums,
                                read_credited(parts_.stores.credit.standings, active->manifest.run_id));
                MutexLock lock(mutex_);
                active->core->set_credited(sums);
                return {};
              }));
  return {};
}

void RunService::step_down() {
  MutexLock lock(mutex_);
  terms_ += 1;
  looked_ = false;
  active_.reset();
}

Error RunService::nothing_served() const {
  if (looked_) return {ErrorCode::not_found, "the project has no run at the moment"};
  return {ErrorCode::unavailable, "the coordinator has just begun; try again"};
}

// A decision of one term is not written in another, which knows nothing of it. (Between two terms of this process
// others may have led: the database itself refuses writes that come then.)
StoreWriter::Write RunService::in_this_term(StoreWriter::Write write) const {
  return [this, term = terms_.load(), write = std::move(write)]() -> Status {
    if (terms_ != term) return Error{ErrorCode::failed_precondition, "this coordinator has not led since"};
    return write();
  };
}

void RunService::store(std::string what, StoreWriter::Write write) {
  others_.add(std::move(what), in_this_term(std::move(write)));
}

TimePoint RunService::tick() {
  MutexLock lock(mutex_);
  if (!active_) return kNever;
  const TimePoint now = parts_.clock.now();
  TimePoint next = tick(active_, now);
  for (const auto& cell : active_->cells) next = std::min(next, tick(cell, now));
  if (!active_->dealing) return next;
  active_->dealing->deal(now);
  return std::min(next, now + kDealEvery);
}

TimePoint RunService::tick(const std::shared_ptr<Active>& active, TimePoint now) {
  if (active->core->next_deadline() <= now) {
    carry_out(active, active->core->on_timer(now, parts_.clock.wall_now()));
    active_->note_holders(*active);
  }
  return active->core->next_deadline();
}

// Null: nothing is served. The run, where no cell has this id.
std::shared_ptr<RunService::Active> RunService::find(const RunId& run_id) const {
  if (!active_ || active_->cells.empty() || active_->manifest.run_id == run_id) return active_;
  const auto cell = std::find_if(active_->cells.begin(), active_->cells.end(),
                                 [&](const auto& one) { return one->manifest.run_id == run_id; });
  return cell != active_->cells.end() ? *cell : active_;
}

// Takes receipts and an offer, and answers it.
void RunService::deal_cells(const core::MemberIdentity& who, const wire::Heartbeat& heartbeat,
                            wire::HeartbeatReply& reply) {
  if (!active_->dealing) return;
  if (heartbeat.computing.receipts) active_->receipts->on_receipts(who, *heartbeat.computing.receipts);
  core::CellBook& dealing = *active_->dealing;
  if (heartbeat.phase == wire::MemberPhase::leaving) return dealing.on_goodbye(who.peer);
  const auto& offer = heartbeat.computing.cells;
  if (!offer) return;
  const core::CellBook::Condition condition{active_->core->endpoint_of(who.peer),
                                            heartbeat.phase == wire::MemberPhase::paused,
                                            std::min(heartbeat.upload_bytes_per_s, heartbeat.download_bytes_per_s)};
  dealing.on_offer(parts_.clock.now(), who, condition, *offer);
  dealing.deal(parts_.clock.now());
  reply.named.cells = dealing.answer(who.peer, offer->table);
}

Result<wire::HeartbeatReply> RunService::heartbeat(const core::MemberIdentity& who, const wire::Heartbeat& heartbeat) {
  std::shared_ptr<Active> active;
  core::HeartbeatDecision decision;
  {
    MutexLock lock(mutex_);
    if (!active_) return nothing_served();
    active = find(heartbeat.run_id);
    decision = active->core->on_heartbeat(parts_.clock.now(), parts_.clock.wall_now(), who, heartbeat);
    carry_out(active, decision.ops);
    active_->note_holders(*active);
    if (active == active_ && !decision.refusal) deal_cells(who, heartbeat, decision.reply);
  }
  if (decision.dial_back) dial_back(active, *decision.dial_back);
  if (decision.refusal) return *decision.refusal;
  return std::move(decision.reply);
}

Status RunService::unusable_samples(const core::MemberIdentity& who, const wire::UnusableSamples& samples) {
  MutexLock lock(mutex_);
  if (!active_) return nothing_served();
  STARLING_ASSIGN(const auto ops, active_->core->on_unusable(who, samples));
  carry_out(active_, ops);
  return {};
}

void RunService::dial_back_by(std::unique_ptr<reach::Prober> prober) { prober_ = std::move(prober); }

// A test that finds no room is due again a little later.
void RunService::dial_back(const std::shared_ptr<Active>& active, const wire::Endpoint& at) {
  if (prober_ == nullptr) return;
  (void)prober_->test({at.peer, at.host, at.port}, [this, active, at](bool reached) {
    log_debug("peer {} at {} port {} {}", at.peer.brief(), at.host, at.port, reached ? "answers" : "cannot be dialled");
    MutexLock lock(mutex_);
    active->core->on_dialled_back(parts_.clock.now(), at, reached);
  });
}

bool RunService::may_post(const PeerId& peer) const {
  MutexLock lock(mutex_);
  return active_ && active_->core->uses_operator_relay(peer);
}

std::optional<reach::RelayAllowance> RunService::allowance(const PeerId& caller, const PeerId& called) const {
  MutexLock lock(mutex_);
  if (!active_) return std::nullopt;
  const auto share = active_->core->operator_relay_share(caller, called);
  if (!share) return std::nullopt;
  return reach::RelayAllowance{std::minmax(caller, called), share->round, share->bytes_max};
}

Result<CopyWanted> RunService::checkpoint_wanted(const RunId& run_id, const PeerId& peer) {
  MutexLock lock(mutex_);
  if (!active_) return nothing_served();
  const auto active = find(run_id);
  const auto wanted = active->core->on_checkpoint_piece(parts_.clock.now(), peer);
  if (!wanted)
    return Error{ErrorCode::failed_precondition, "it is another computer's turn to send a copy of the model"};
  return CopyWanted{*wanted, active->rollbacks};
}

void RunService::keep_checkpoint(const RunId& run_id, const wire::Checkpoint& checkpoint) {
  MutexLock lock(mutex_);
  if (active_) find(run_id)->core->on_checkpoint_kept(parts_.clock.now(), checkpoint);
}

void RunService::give_up_checkpoint(const RunId& run_id, const PeerId& peer) {
  MutexLock lock(mutex_);
  if (active_) find(run_id)->core->on_checkpoint_failed(parts_.clock.now(), peer);
}

std::optional<ServedRun> RunService::served() const {
  MutexLock lock(mutex_);
  if (!active_ || active_->retired) return std::nullopt;
  const core::RunCoordinator& core = *active_->core;
  core::SwarmView swarm = core.view(parts_.clock.now());
  if (active_->dealing) {
    swarm.cells = active_->dealing->cover();
    active_->receipts->count_calls(swarm.cells);
  }
  return ServedRun{active_->whole.value_or(active_->manifest), std::move(swarm), core.failing(), core.device_sums()};
}

core::DevicesInUse RunService::devices() const {
  MutexLock lock(mutex_);
  return active_ && !active_->retired ? active_->core->devices() : core::DevicesInUse{};
}

std::vector<core::ClassFigures> RunService::numeric_classes() const {
  MutexLock lock(mutex_);
  return active_ && !active_->retired ? active_->core->numeric_classes() : std::vector<core::ClassFigures>{};
}

std::vector<swarm::Host> RunService::hosts() const {
  MutexLock lock(mutex_);
  return active_ && !active_->retired ? active_->core->hosts() : std::vector<swarm::Host>{};
}

Result<std::string> RunService::envelope() const {
  MutexLock lock(mutex_);
  if (!active_ || active_->retired) return nothing_served();
  return active_->envelope;
}

void RunService::carry_out(const std::shared_ptr<Active>& active, const std::vector<core::StoreOp>& ops) {
  const RunId run_id = active->manifest.run_id;
  const db::Stores& stores = parts_.stores;
  for (const core::StoreOp& op : ops) {
    if (const auto* round = std::get_if<core::RoundDecided>(&op)) {
      if (active->receipts) active->receipts->on_trained(round->contributions);
      store_round(active, *round);
    } else if (const auto* seated = std::get_if<core::GroupSeated>(&op)) {
      store("store who may decide a round",
            [&stores, run_id, row = row_of(seated->group), rollbacks = active->rollbacks] {
              return stores.training.electorates.add(run_id, row, rollbacks);
            });
    } else if (const auto* claim = std::get_if<core::ClaimUnconfirmed>(&op)) {
      const db::UnconfirmedClaim row{run_id, claim->round, claim->peer, claim->account, claim->samples, claim->wall};
      store("store an unconfirmed claim", [&stores, row] { return stores.credit.claims.add(row); });
    } else if (const auto* restarted = std::get_if<core::ProbationRestarted>(&op)) {
      restart_probation(restarted->account);
    } else if (const auto* lane = std::get_if<core::LaneAssigned>(&op)) {
      store_lane(active, *lane);
    } else if (const auto* dealt = std::get_if<core::LeasesDealt>(&op)) {
      store_leases(active, *dealt);
    } else if (const auto* tried = std::get_if<core::SamplesTried>(&op)) {
      store("store which samples were tried in vain",
            [&stores, run_id, tries = tried->tries, oldest_epoch = tried->oldest_epoch] {
              return stores.training.leases.add_tried(run_id, tries, oldest_epoch);
            });
    } else if (const auto* sample = std::get_if<SampleSetAside>(&op)) {
      log_warning("run '{}': sample {} of epoch {} is set aside: no gradient of it is finite", run_id, sample->place,
                  sample->epoch);
      store("store a sample that is set aside",
            [&stores, run_id, row = *sample] { return stores.training.leases.set_aside(run_id, row); });
    } else if (const auto* measured = std::get_if<core::EvaluationStored>(&op)) {
      const db::Evaluation evaluation{
          run_id,          measured->round, measured->bits_per_byte, measured->bits_per_byte * kNatsPerBit,
          measured->bytes, measured->wall,  measured->accuracy};
      store("store an evaluation",
            [&stores, evaluation, peer = measured->peer] { return stores.training.evaluations.add(evaluation, peer); });
    } else if (std::holds_alternative<core::RunStateChanged>(op)) {
      store_completion(active);
      for (const auto& cell : active->cells) cell->core->set_state(wire::RunState::paused);
    } else if (const auto* adopted = std::get_if<core::StateAdopted>(&op)) {
      log_warning("run '{}': nobody holds the state of round {} any more; the run goes on from {}, of round {}", run_id,
                  adopted->round, ground_of(*adopted), adopted->reported_round);
    } else if (const auto* stated = std::get_if<core::StateStated>(&op)) {
      store_statement(active, stated->chain);
    } else if (const auto* seat = std::get_if<core::SeatChanged>(&op)) {
      log_info("peer {} {}{}", seat->peer.brief(), seat->sits_out ? "sits out: " : "takes part again. ", seat->why);
    } else if (const auto* voided = std::get_if<core::CreditVoided>(&op)) {
      void_credit(active, *voided);
    } else if (const auto* audit = std::get_if<core::AuditStored>(&op)) {
      // Behind the credit that it takes back: no miss is known whose credit was not.
      StoreWriter& queue = audit->verdict == core::AuditVerdict::missed ? rounds_ : others_;
      queue.add("store what a check of work has found",
                in_this_term([&stores, row = row_of(run_id, *audit)] { return stores.credit.checks.add(row); }));
    } else if (const auto* banned = std::get_if<core::AccountBanned>(&op)) {
      log_warning("account {} is banned: {}", banned->account, banned->reason);
      const db::Ban ban{
          0, db::BanKind::user, std::to_string(banned->account), banned->reason, banned->wall, db::kNoExpiry};
      store("store a ban", [&stores, ban] { return stores.operation.bans.add(ban).status(); });
    }
  }
}

// Behind the rounds that are decided already: with the run's end all of its credit is final.
void RunService::store_completion(const std::shared_ptr<Active>& active) {
  const RunId run_id = active->manifest.run_id;
  log_info("run '{}' is complete", run_id);
  rounds_.add("store that the run is complete", in_this_term([this, run_id] {
                return parts_.stores.training.runs.set_state(run_id, db::RunState::complete);
              }));
}

// Behind the rounds that are decided already, and before those that are not: it takes back none of these.
void RunService::void_credit(const std::shared_ptr<Active>& active, const core::CreditVoided& voided) {
  log_warning("credit of computer {} from round {} on is taken back: {}", voided.peer.brief(), voided.from,
              voided.reason);
  rounds_.add("take credit back", in_this_term([this, active, account = voided.account,
                                                request = request_of(active->manifest.run_id, voided)]() -> Status {
                STARLING_ASSIGN(const db::CorrectionOutcome outcome,
                                parts_.stores.credit.corrections.void_pending(request));
                MutexLock lock(mutex_);
                active->core->on_taken_back(account, outcome.taken_back.samples);
                return {};
              }));
}

// It is written behind the rounds that are decided already, which may confirm work of the account.
void RunService::restart_probation(AccountId account) {
  rounds_.add("store that an account is on probation", in_this_term([this, account]() -> Status {
                STARLING_TRY(parts_.stores.people.accounts.restart_probation(account));
                parts_.hosts.look_again(account);
                return {};
              }));
}

// Lanes that were assigned while the store was busy are written together: a whole swarm may come at once.
void RunService::store_lane(const std::shared_ptr<Active>& active, const core::LaneAssigned& assigned) {
  active->assigned.push_back({assigned.holder.peer, assigned.holder.lane, assigned.wall});
  if (active->assigned.size() > 1) return;
  const auto batch = std::make_shared<std::vector<db::Lane>>();
  store("store sample lanes", [this, active, batch]() -> Status {
    {
      MutexLock lock(mutex_);
      batch->insert(batch->end(), active->assigned.begin(), active->assigned.end());
      active->assigned.clear();
    }
    return parts_.stores.training.lanes.assign(active->manifest.run_id, *batch);
  });
}

// Leases that were dealt while the store was busy are written together.
void RunService::store_leases(const std::shared_ptr<Active>& active, const core::LeasesDealt& dealt) {
  active->dealt.push_back(dealt);
  if (active->dealt.size() > 1) return;
  const auto batch = std::make_shared<std::vector<core::LeasesDealt>>();
  others_.add(
      "store leases of samples", in_this_term([this, active, batch]() -> Status {
        {
          MutexLock lock(mutex_);
          std::move(active->dealt.begin(), active->dealt.end(), std::back_inserter(*batch));
          active->dealt.clear();
        }
        const std::vector<std::int64_t> samples = wire::epoch_samples(active->manifest);
        const SampleCount epoch_samples = std::accumulate(samples.begin(), samples.end(), SampleCount{0});
        STARLING_TRY(parts_.stores.training.leases.add(active->manifest.run_id, epoch_samples, rows_of(*batch)));
        MutexLock lock(mutex_);
        for (const core::LeasesDealt& stored : *batch) active->core->on_leases_stored(stored);
        return {};
      }),
      [this, active, batch] {
        MutexLock lock(mutex_);
        std::move(active->dealt.begin(), active->dealt.end(), std::back_inserter(*batch));
        active->dealt.clear();
        for (const core::LeasesDealt& refused : *batch) active->core->on_leases_refused(refused);
      });
}

// In the order of rounds: a statement takes the place of the links before it.
void RunService::store_statement(const std::shared_ptr<Active>& active, const core::ChainGrowth& growth) {
  rounds_.add("store a statement of the run's state",
              in_this_term([this, run_id = active->manifest.run_id, statement = statement_row(growth).value(),
                            rollbacks = active->rollbacks] {
                return parts_.stores.training.chains.state(run_id, statement, rollbacks);
              }));
}

void RunService::store_round(const std::shared_ptr<Active>& active, const core::RoundDecided& round) {
  log_debug("round {}: {} contributions, {} ms", round.round, round.contributions.size(), round.averaging_ms);
  rounds_.add(fmt::format("store round {}", round.round),
              in_this_term([this, active, number = round.round,
                            result = round_result(active->manifest, active->rollbacks, round)]() -> Status {
                STARLING_TRY(parts_.stores.training.contributions.append(result).status());
                on_stored(active, number);
                return {};
              }),
              [this, active, number = round.round] {
                MutexLock lock(mutex_);
                active->core->on_refused(number);
              });
}

void RunService::on_stored(const std::shared_ptr<Active>& active, RoundIndex round) {
  MutexLock lock(mutex_);
  active->core->on_stored(round);
}

}  // namespace starling::api
