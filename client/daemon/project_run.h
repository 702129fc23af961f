// A session with its means: the trainer process, the links to other volunteers, the coordinator and the disk. It
// carries out the session's decisions and brings the ends back as events.
//
// Threads. All methods, and the session itself, belong to the control thread. Trainer calls run on the trainer thread
// (delayed steps: on one of their own), coordinator calls on the coordinator thread, averaging and state transfer on
// the network's own. Each posts its end back to control; nothing else is shared except where the members' comments say
// so.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/daemon/checkpoint_courier.h"
#include "client/daemon/coordinator_calls.h"
#include "client/daemon/corrected_clock.h"
#include "client/daemon/governor.h"
#include "client/daemon/outgoing.h"
#include "client/daemon/run_preparation.h"
#include "client/daemon/snapshot_keeper.h"
#include "client/daemon/task_loop.h"
#include "client/session/gossip.h"
#include "client/session/session.h"
#include "client/storage/checkpoint_store.h"
#include "client/storage/project_files.h"
#include "client/storage/round_journal.h"
#include "client/trainer_link/trainer_process.h"
#include "client/transport/peer_network.h"
#include "shared/base/mutex.h"
#include "shared/control/control.h"

namespace starling::daemon {

// The daemon's threads and clock; they outlive every run.
struct Threads {
  TaskLoop& control;
  TaskLoop& trainer;
  TaskLoop& coordinator;
  CorrectedClock& clock;
};

// Paths and addresses of this installation, equal for all runs.
struct RunOptions {
  std::filesystem::path trainer_program;
  std::string listen_host = "::";
  int listen_port = 0;
  Outgoing outgoing = {};
};

// The volunteer's present permission for a run.
struct Permission {
  bool train = true;
  std::string reason;                // why training is not allowed
  bool coordinator = true;           // the coordinator may be called
  bool port_mapping = true;          // the router may be asked to open a port
  bool spares_data = false;          // the coordinator hears no more than it must: the month is used up
  double relay_bytes_per_s = 0;      // rate that may be relayed between others
  std::int64_t disk_bytes_left = 0;  // by the limits, as it was measured last; negative: less than is taken
  double upload_bytes_per_s = 0;     // for all traffic together; 0: no limit
  double download_bytes_per_s = 0;   // for all traffic together; 0: no limit
  trainer_link::TrainerShare share;
};

// The results of joining and preparing a run. `files` and `calls` outlive the run.
struct RunInputs {
  const storage::Project& project;
  const PreparedRun& prepared;
  const crypto::PrivateKey& key;
  storage::ProjectFiles& files;
  CoordinatorCalls& calls;
  net::Line& line;  // outlives the run, too
};

struct RunParts;  // the parts that create() opens

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
  // trainer that slipped through while it was starting is ended by the next call.
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
  ProjectRun(const Threads& threads, Outgoing outgoing, RunParts parts);

  void send_heartbeat(const wire::Heartbeat& heartbeat) override;
  void start_batch(const wire::SampleRange& samples, const session::BatchTarget& target) override;
  void report_unusable(const wire::UnusableSamples& samples) override;
  void start_averaging(const wire::GroupInfo& group, averaging::Rank self,
                       const averaging::ContributionTerms& terms) override;
  // Averages by low-rank products, like start_averaging otherwise (project_run_low_rank.cpp).
  struct Leg;  // one of the two averagings
  void start_low_rank(const wire::GroupInfo& group, averaging::Rank self, const averaging::ContributionTerms& terms);
  void begin_leg(const Leg& leg);
  void leg_ended(TimePoint now, const Leg& leg, const averaging::AveragingOutcome& outcome);
  // The network refused a plan that the session had accepted.
  void averaging_refused(const Status& why, std::size_t members);
  // Gossip between rounds (project_run_gossip.cpp): the work after a bucket's step on the trainer thread, and the
  // meetings that follow.
  void mix_bucket(const wire::Bucket& bucket);
  void meet(const wire::Bucket& bucket, const std::optional<swarm::GossipGroup>& gossip);
  void begin_gossip(const wire::RoundReport& report);
  void end_gossip();
  // Consensus distance: how far local steps on `samples`, with this sum, have led from where the average of all is;
  // relative, and for the part that the round averages.
  [[nodiscard]] double consensus_distance(RoundIndex round, std::span<const float> sum, SampleCount samples) const;
  void start_step(RoundIndex round) override;
  void keep_previous_state();  // on the thread that steps
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

  // Posts `event` to control, where it runs unless the run was stopped, and is followed by after_event().
  void deliver(std::function<void(TimePoint now)> event);
  void after_event();
  void rest_trainer_if_paused();
  // The loop on which steps are taken, and the state after them is saved.
  [[nodiscard]] TaskLoop& step_loop();
  void save_last_state();
  void stop_fetch();
  // Trains a batch with the present share, and begins it again if that changes meanwhile. Trainer thread.
  Result<session::BatchReport> train_batch(const wire::SampleRange& samples, std::span<float> gradient);
  // Limit for this computer in a round (shared/swarm/plausible.h).
  [[nodiscard]] SampleCount samples_max() const;
  [[nodiscard]] std::optional<trainer_link::TrainerShare> allowed_share() const EXCLUDES(share_mutex_);
  void state_fetched(RoundIndex round, const Digest& digest, const Status& status);
  void install_state(RoundIndex round, const Digest& digest, std::shared_ptr<std::vector<float>> state);
  // The heartbeat's fields about calling this computer, and the requests of its reply (project_run_reach.cpp).
  void tell_reach(wire::Heartbeat& heartbeat) const;
  void follow_reach(const wire::HeartbeatReply& reply);
  void keep_port_open();
  void limit_traffic(const Permission& permission);
  void note_peers(const wire::GroupInfo& group, averaging::Rank self);
  void note_round(const wire::RoundReport& report);
  void describe_reach(const transport::NetworkStats& stats, wire::ReachStatus& reach) const;
  void renew_certificate();
  void renew_refused_certificate(TimePoint now);
  void note_line();
  // Notes whether the disk took something. A full disk is reported once, and once when it is over.
  void note_saving(const char* what, const Status& saved, std::string& problem);

  Threads threads_;
  const Outgoing outgoing_;
  std::unique_ptr<RunParts> parts_;
  Listener listener_;
  wire::PeersView peers_;
  std::atomic<bool> stopped_{false};
  struct Fetch;  // the download of a state that was begun last
  std::shared_ptr<Fetch> fetch_;
  std::optional<CheckpointCourier> courier_;  // none after stop()
  bool trainer_resting_ = false;
  bool coordinator_allowed_ = true;
  bool spares_data_ = false;
  mutable Mutex share_mutex_;
  std::optional<trainer_link::TrainerShare> share_ GUARDED_BY(share_mutex_);  // empty: no training
  bool renewing_ = false;
  TimePoint renew_not_before_{};  // after the certificate was refused
  std::string journal_problem_;   // why the last round is not on disk; empty when it is
  std::string checkpoint_problem_;
  std::string notice_;  // the coordinator's last one
  double relay_bytes_per_s_ = 0;
  std::pair<double, double> traffic_limits_;  // up and down, bytes/s; 0: none
  bool port_mapping_ = false;
  wire::Reachability reachability_ = wire::Reachability::unknown;
  bool reach_known_ = false;  // the coordinator has reported it
  std::string address_;
  RoundIndex forgotten_below_ = 0;
  double consensus_distance_ = 0;          // DaemonStatus
  std::size_t gradient_in_use_ = 0;        // index of the present round's
  SampleCount own_samples_ = 0;            // its samples when its averaging began
  std::int64_t averagings_ = 0;            // number of those that have begun
  std::int64_t averagings_told_ = 0;       // number that the trainer has heard of: its batches from now on are later
  bool averaging_holds_gradient_ = false;  // the network still reads that one: no step has followed
};

}  // namespace starling::daemon
