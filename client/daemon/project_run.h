// A session with its means: the trainer process, the links to other volunteers, the coordinator and the disk. It starts
// what the session decides, each on the thread whose work it is, and brings the ends back as events. Where the model is
// cut into cells, all this is of its trunk, and cell_runs.h has the cells.
//
// Threads. All methods, and the session itself, belong to the control thread. Trainer calls run on the trainer thread
// (delayed steps: on one of their own), coordinator calls on the coordinator thread, averaging and state transfer on
// the network's own. Each posts its end back to control (run_threads.h). The parts say which of their methods belong to
// another thread; nothing else is shared.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "client/daemon/cell_runs.h"
#include "client/daemon/coordinator_contact.h"
#include "client/daemon/disk_problem.h"
#include "client/daemon/gossip_meetings.h"
#include "client/daemon/governor.h"
#include "client/daemon/peer_board.h"
#include "client/daemon/permission.h"
#include "client/daemon/reach.h"
#include "client/daemon/report_keeper.h"
#include "client/daemon/round_work.h"
#include "client/daemon/run_parts.h"
#include "client/daemon/run_threads.h"
#include "client/daemon/state_fetcher.h"
#include "client/daemon/state_keeper.h"
#include "client/daemon/trainer_work.h"
#include "client/session/session.h"
#include "client/transport/peer_network.h"
#include "shared/control/control.h"

namespace starling::daemon {

class ProjectRun final : private session::Session::Mediator {
 public:
  // Opens everything and loads the newest checkpoint, or makes the state of round 0. Blocks: trainer thread.
  static Result<std::unique_ptr<ProjectRun>> create(const Threads& threads, const RunOptions& options,
                                                    const RunInputs& inputs);
  // Comes after stop() has run, if the run was started.
  ~ProjectRun() override;

  // Callbacks, on the control thread.
  struct Listener {
    std::function<void()> changed;                       // after every event
    std::function<void(wire::HistoryPoint)> round_done;  // every finished round: everything except its time
    std::function<void(const RunId& run_id)>
        not_served;  // called each time the coordinator says that it does not have this run
  };
  void start(const Permission& permission, Listener listener);
  // No event is processed from now on. Then, on the trainer thread: finish_on_trainer().
  void stop();
  // Ends the trainer; before that, saves the state if it is to be kept. Trainer thread, after stop().
  void finish_on_trainer(bool keep_state);

  // Obeys at once: work that is no longer allowed is ended in the middle. Call it again and again, changed or not: a
  // trainer that slipped through while it was starting is ended by the next call. Not after stop().
  void obey(const Permission& permission);
  // Returns a sentence for the volunteer when the permission's limits leave too little of the line; usually empty.
  [[nodiscard]] std::string limit_warning(const Permission& permission) const;
  // Continues a text by `count` tokens (or bytes), on the trainer thread; `done` runs there.
  void sample_text(const std::string& prompt, int count, double temperature,
                   std::function<void(Result<std::string>)> done);

  void count_traffic(TrafficCounters& counters) const;
  // Fills in the fields that the run knows.
  void describe(wire::DaemonStatus& status) const;
  // Returns the members of the last averaging, with their samples of the last finished round.
  [[nodiscard]] wire::PeersView peers() const;

 private:
  ProjectRun(const Threads& threads, const Outgoing& outgoing, RunParts parts);

  void send_heartbeat(const wire::Heartbeat& heartbeat) override;
  void start_batch(const wire::SampleRange& samples, const session::BatchTarget& target) override;
  void report_unusable(const wire::UnusableSamples& samples) override;
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
  void forget_reports(RoundIndex below) override;
  void withdraw_reports(RoundIndex from) override;
  void save_checkpoint(RoundIndex round, const Digest& digest) override;
  std::optional<Digest> prove_state(const Hash128& challenge, const Digest& digest) override;
  bool keep_audited_state(RoundIndex round) override;
  void forget_audited_state(RoundIndex round) override;
  void start_audit(const session::Audits::Piece& piece) override;
  std::optional<wire::OwnSketches> own_sketches(RoundIndex round, const Hash128& seed) override;
  bool passed_self_test(std::int64_t missed) override;

  [[nodiscard]] std::unique_ptr<CellRuns> make_cells(const Threads& threads, const Outgoing& outgoing,
                                                     const RunParts& parts);
  void after_event();
  void on_heartbeat_answered(TimePoint now, const Result<wire::HeartbeatReply>& reply);
  void adopt_certificate(const std::string& pem);
  void limit_traffic(const Permission& permission);
  void note_line();

  // The order matters: each part may refer to those above it.
  RunThreads threads_;
  RunContext context_;
  TrainerWork trainer_;
  StateKeeper state_;
  std::unique_ptr<transport::PeerNetwork> network_;  // null after stop()
  CoordinatorContact coordinator_;
  Reach reach_;
  StateFetcher fetcher_;
  GossipMeetings gossip_;
  RoundWork rounds_;
  ReportKeeper reports_;
  std::unique_ptr<CellRuns> cells_;  // null where the model has none
  DiskProblem checkpoint_problem_{"save the model"};
  PeerBoard peers_;
  std::pair<std::int64_t, WallTime> missed_;  // how often the work was found false, and when that was heard of
  std::pair<double, double> traffic_limits_;  // up and down, bytes/s; 0: none
  session::Session session_;
  Listener listener_;
};

}  // namespace starling::daemon
