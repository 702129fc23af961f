// A session with its hands: the trainer process, the links to other volunteers, the coordinator and the disk. It does
// what the session decides and brings the ends back as events.
//
// Threads. All methods, and the session itself, belong to the control thread. Trainer calls run on the trainer thread
// (steps of a run that delays them: on one of their own), coordinator calls on the coordinator thread, averaging and
// state transfer on the network's own. Each posts its end back to control; nothing else is shared but what the members'
// comments name.
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
#include "client/session/mixing.h"
#include "client/session/session.h"
#include "client/storage/checkpoint_store.h"
#include "client/storage/project_files.h"
#include "client/storage/round_journal.h"
#include "client/trainer_link/trainer_process.h"
#include "client/transport/peer_network.h"
#include "shared/base/mutex.h"
#include "shared/wire/control.h"

namespace starling::daemon {

// The daemon's threads and clock; they outlive every run.
struct Threads {
  TaskLoop& control;
  TaskLoop& trainer;
  TaskLoop& coordinator;
  CorrectedClock& clock;
};

struct RunOptions {
  std::filesystem::path trainer_program;
  std::string listen_host = "::";
  int listen_port = 0;
  Outgoing outgoing = {};
};

// What the volunteer's rules allow a run just now.
struct Permission {
  bool train = true;
  std::string reason;                // why not
  bool coordinator = true;           // whether it may be called
  bool port_mapping = true;          // whether the router may be asked to open a port
  bool spares_data = false;          // the coordinator hears no more than it must: the month is used up
  double relay_bytes_per_s = 0;      // may be passed on between others
  std::int64_t disk_bytes_left = 0;  // by the limits, as it was measured last; negative: less than is taken
  double upload_bytes_per_s = 0;     // everything together; 0: no limit
  double download_bytes_per_s = 0;   // the same
  trainer_link::TrainerShare share;
};

// What joining and preparing a run brought. `files` and `calls` outlive the run.
struct RunInputs {
  const storage::Project& project;
  const PreparedRun& prepared;
  const crypto::PrivateKey& key;
  storage::ProjectFiles& files;
  CoordinatorCalls& calls;
  net::Line& line;  // outlives the run as well
};

struct RunParts;  // what create() opens

class ProjectRun final : private session::Session::Mediator {
 public:
  // Opens everything and loads the newest checkpoint, or makes the state of round 0. Blocks: trainer thread.
  static Result<std::unique_ptr<ProjectRun>> create(const Threads& threads, const RunOptions& options,
                                                    const RunInputs& inputs);
  // After stop() has run, if it was started.
  ~ProjectRun() override;

  // What it tells, on the control thread.
  struct Listener {
    std::function<void()> changed;                       // after every event
    std::function<void(wire::HistoryPoint)> round_done;  // every finished round: all but its time
    std::function<void(const RunId& run_id)>
        not_served;  // the coordinator says, each time anew, that it has not this run
  };
  void start(const Permission& permission, Listener listener);
  // No event is processed from now on. Then, on the trainer thread: finish_on_trainer().
  void stop();
  // Ends the trainer; before that, saves the state if it is to be kept. Trainer thread, after stop().
  void finish_on_trainer(bool keep_state);

  // At once: what is no longer allowed is ended in the middle. To be called again and again, changed or not: a trainer
  // that slipped through while it was starting is ended by the next call.
  void obey(const Permission& permission);
  // A sentence for the volunteer when the permission's limits leave too little of the line; usually empty.
  [[nodiscard]] std::string limit_warning(const Permission& permission) const;
  // Continues a text by so many words, bytes or tokens, on the trainer thread; `done` runs there.
  void sample_text(const std::string& prompt, int count, double temperature,
                   std::function<void(Result<std::string>)> done);

  void count_traffic(TrafficCounters& counters) const;
  // Fills in what the run knows.
  void describe(wire::DaemonStatus& status) const;
  // Whom the last averaging was with, and what they brought to the last finished round.
  [[nodiscard]] wire::PeersView peers() const;

 private:
  ProjectRun(const Threads& threads, Outgoing outgoing, RunParts parts);

  void send_heartbeat(const wire::Heartbeat& heartbeat) override;
  void start_batch(const wire::SampleRange& samples, const session::BatchTarget& target) override;
  void report_unusable(const wire::UnusableSamples& samples) override;
  void start_averaging(const wire::GroupInfo& group, averaging::Rank self, const averaging::Stake& stake) override;
  // The same by low-rank products (project_run_low_rank.cpp).
  struct Leg;  // one of the two averagings
  void start_low_rank(const wire::GroupInfo& group, averaging::Rank self, const averaging::Stake& stake);
  void begin_leg(const Leg& leg);
  void leg_ended(TimePoint now, const Leg& leg, const averaging::AveragingOutcome& outcome);
  // The network does not take a plan that the session took.
  void averaging_refused(const Status& why, std::size_t members);
  // Where volunteers mix between rounds (project_run_mixing.cpp): what follows a bucket's step on the trainer thread,
  // and the meetings that come of it.
  void mix_bucket(const wire::Bucket& bucket);
  void meet(const wire::Bucket& bucket, const std::optional<swarm::MixingGroup>& mixing);
  void begin_mixings(const wire::RoundReport& report);
  void end_mixings();
  // How far local steps on so many samples, whose sum this is, have led from where the average of all is; relative, and
  // of what the round averages.
  [[nodiscard]] double spread(RoundIndex round, std::span<const float> sum, SampleCount samples) const;
  void start_step(RoundIndex round) override;
  void keep_previous_state();  // of the thread that steps
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
  // Where steps are taken, and the state they leave is saved.
  [[nodiscard]] TaskLoop& step_loop();
  void save_last_state();
  void stop_fetch();
  // On the trainer thread: a batch with the share of the moment, begun again if that changes meanwhile.
  Result<session::BatchReport> train_batch(const wire::SampleRange& samples, std::span<float> gradient);
  // Of this computer in a round (shared/swarm/plausible.h).
  [[nodiscard]] SampleCount samples_max() const;
  [[nodiscard]] std::optional<trainer_link::TrainerShare> allowed_share() const EXCLUDES(share_mutex_);
  void state_fetched(RoundIndex round, const Digest& digest, const Status& status);
  void install_state(RoundIndex round, const Digest& digest, std::shared_ptr<std::vector<float>> state);
  // What a heartbeat says about calling this computer, and what its reply asks for (project_run_reach.cpp).
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
  // Whether the disk took something. A full disk is told once, and once when it is over.
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
  std::string notice_;  // of the coordinator's last answer
  double relay_bytes_per_s_ = 0;
  std::pair<double, double> traffic_limits_;  // up and down, bytes/s; 0: none
  bool port_mapping_ = false;
  wire::Reachability reachability_ = wire::Reachability::unknown;
  bool reach_known_ = false;  // the coordinator has told
  std::string address_;
  RoundIndex forgotten_below_ = 0;
  double spread_ = 0;                      // DaemonStatus
  std::size_t gradient_in_use_ = 0;        // which of the two is the present round's
  SampleCount own_samples_ = 0;            // that it had when its averaging began
  std::int64_t averagings_ = 0;            // that have begun
  std::int64_t averagings_told_ = 0;       // the same, as far as the trainer was told: what it computes now is later
  bool averaging_holds_gradient_ = false;  // the network still reads that one: no step has followed
};

}  // namespace starling::daemon
