// One cell that this volunteer holds: a run of its own beside that of the trunk, with a session, a state, rounds and
// reports. Its batches are gradients of samples that callers bring (client/daemon/cell_work.h); nobody draws samples
// for it, evaluates it or checks its work.
//
// While its session is synced, the cell answers calls. Threads as in ProjectRun, with which it shares them.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "client/daemon/cell_trainer.h"
#include "client/daemon/cell_work.h"
#include "client/daemon/coordinator_contact.h"
#include "client/daemon/disk_problem.h"
#include "client/daemon/outgoing.h"
#include "client/daemon/permission.h"
#include "client/daemon/report_keeper.h"
#include "client/daemon/round_work.h"
#include "client/daemon/run_parts.h"
#include "client/daemon/run_threads.h"
#include "client/daemon/state_fetcher.h"
#include "client/daemon/state_keeper.h"
#include "client/daemon/state_shelf.h"
#include "client/session/session.h"
#include "client/storage/known_state.h"
#include "client/storage/round_journal.h"
#include "client/transport/peer_network.h"
#include "shared/protocol/heartbeat.h"
#include "shared/run/cells.h"

namespace starling::daemon {

// A cell as it was opened on this computer.
struct CellParts {
  RunContext context;  // with the cell's manifest, and a folder of its own
  std::unique_ptr<CellTrainer> trainer;
  StateParts state;
  storage::RoundJournal journal;
  session::InitialState initial;
  storage::KnownState known;
};

// Sets memory aside for the cell, and loads its newest checkpoint or makes its state of round 0. On failure the cell is
// not held. `trunk`: the context of the run's trunk. Trainer thread.
Result<CellParts> open_cell(const RunContext& trunk, CellWork& work, wire::CellIndex cell, const Clock& clock);

// The parts of a volunteer's run that its cells share. All outlive them, but the network, which is not used after a
// cell was stopped.
struct CellMeans {
  Threads threads;
  CellWork& work;
  transport::PeerNetwork& network;
  StateShelf& shelf;
  Outgoing outgoing;
  std::function<void(wire::Heartbeat&)> complete;  // fills in the fields that every heartbeat of this computer has
  // The coordinator names members that get the state from here.
  std::function<void(const std::vector<PeerId>&)> name_newcomers;
  std::function<void()> after_event;  // on the control thread, after each event of a cell
};

class CellRun final : private session::Session::Mediator {
 public:
  // `parts` are those of this cell; `means` outlives this object.
  CellRun(const CellMeans& means, wire::CellIndex cell, CellParts parts);
  // Comes after stop() and finish_on_trainer() have run.
  ~CellRun() override;

  // Control thread, all of these, and none after stop().
  void start(const Permission& permission);
  void obey(const Permission& permission);
  void on_timer(TimePoint now);
  [[nodiscard]] TimePoint next_deadline(TimePoint now) const {
    const bool gathers = has_weights_ && now < gathers_until_;
    return std::min(session_.next_deadline(now), gathers ? gathers_until_ : kNever);
  }
  // Samples of callers count in the gradient.
  void on_weights(TimePoint now);
  void tell_soon(TimePoint now);
  // See Session.
  void set_line(double upload_bytes_per_s, double download_bytes_per_s, double round_trip_s,
                std::vector<session::Session::Received> received);
  // See StateFetcher.
  [[nodiscard]] std::int64_t wire_bytes() const { return fetcher_.wire_bytes(); }

  // Returns a task for the coordinator thread: the others need not wait for this holder any more. For the time between
  // stop() and finish_on_trainer().
  [[nodiscard]] std::function<void()> farewell();
  // No event is processed from now on. Then finish_on_trainer().
  void stop();
  // The cell is held no more. Before that the state is saved if it is to be kept; otherwise its checkpoints go, too.
  // The second call does nothing. Trainer thread, after stop().
  void finish_on_trainer(bool keep_state);

 private:
  void send_heartbeat(const wire::Heartbeat& heartbeat) override;
  void start_batch(const wire::SampleRange& samples, const session::BatchTarget& target) override;
  void report_unusable(const wire::UnusableSamples& /*samples*/) override {}  // the samples are others'
  void start_averaging(const wire::GroupInfo& group, averaging::Rank self,
                       const averaging::ContributionTerms& terms) override;
  void start_step(RoundIndex round) override;
  void forget_previous_state() override;
  void start_evaluation() override;
  void fetch_state(std::span<const wire::Endpoint> donors, RoundIndex round, const Digest& digest) override;
  void fetch_checkpoint(const wire::Artefact& file, RoundIndex round, const Digest& digest) override;
  void make_initial_state(const Digest& digest) override;
  void restore_previous_state(RoundIndex round, const Digest& digest) override;
  void send_checkpoint(RoundIndex round, const Digest& digest) override;
  void record_round(const wire::RoundReport& report, Duration round_duration) override;
  void forget_reports(RoundIndex below) override { reports_.forget(below); }
  void withdraw_reports(RoundIndex from) override { reports_.withdraw(from); }
  void save_checkpoint(RoundIndex round, const Digest& digest) override;
  std::optional<Digest> prove_state(const Hash128& challenge, const Digest& digest) override;

  void on_heartbeat_answered(TimePoint now, const Result<wire::HeartbeatReply>& reply);
  // Runs the task on the trainer thread, unless the cell was stopped: in the middle of a window, too, which may be
  // long.
  void on_trainer_soon(std::function<void()> task);
  // Answers calls while the session is synced, and only then.
  void serve_if_synced();

  const CellMeans& means_;
  const wire::CellIndex cell_;
  // The order matters: each part may refer to those above it.
  RunThreads threads_;
  RunContext context_;
  std::unique_ptr<CellTrainer> trainer_;
  StateKeeper state_;
  CoordinatorContact coordinator_;
  StateFetcher fetcher_;
  RoundWork rounds_;
  ReportKeeper reports_;
  DiskProblem checkpoint_problem_;
  session::Session session_;
  wire::Heartbeat last_;              // heartbeat, and what has come since then
  std::optional<RoundIndex> served_;  // calls are answered with the state of this round
  bool has_weights_ = false;          // since the last batch
  TimePoint gathers_until_{};         // the next batch is not taken before
  bool is_finished_ = false;          // trainer thread
};

}  // namespace starling::daemon
