// Members on virtual time that behave like volunteers: they train, call when told, meet when planned, report their
// group's work, and fetch the state when they lost it. Averaging here is a fact, not work.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/core/heartbeat_decision.h"
#include "coordinator/core/run_coordinator.h"
#include "tests/coordinator/core/small_run.h"

namespace starling::wire {
struct Heartbeat;
}

namespace starling::core::testing {

struct VirtualMember {
  PeerId peer;
  double samples_per_s = 20;
  double batch_seconds = 0.05;  // the value that it reports
  double batch_jitter = 0;
  double line_bytes_per_s = 0;  // both ways; 0: not measured
  double round_trip_s = 0;
  Duration result_takes{};  // time after the others are done, when it is deferred
  bool alive = true;
  bool dialable = true;  // else it waits for calls where the coordinator sends it
  bool paused = false;
  wire::MemberPhase phase = wire::MemberPhase::joining;
  RoundIndex state_round = 0;
  Digest state;
  bool synced = false;
  bool proves = true;          // answers challenges
  std::optional<Digest> lies;  // its proof, whatever it is asked
  Duration download_takes{};   // time to load the state from a donor
  TimePoint downloaded_at{};
  RoundIndex download_round = 0;
  Digest download;
  bool delays_updates = false;  // computes on while it averages
  double samples = 0;
  double samples_ahead = 0;  // samples of the next round
  TimePoint trained_at{};
  TimePoint next_call{};
  std::optional<wire::GroupInfo> group;
  TimePoint start{};
  // report of the round whose result it still takes, as a deferred member, until late_until
  std::optional<wire::RoundReport> late;
  TimePoint late_until{};
  std::vector<wire::RoundReport> reports;
  // The state before the last step, its samples there, and the group that stepped.
  Digest kept_state;
  double kept_samples = 0;
  std::optional<wire::GroupInfo> last_group;
  std::vector<SampleCount> last_contributed;  // by rank
  wire::HeartbeatReply last_reply;
  int calls = 0;
  std::optional<RoundIndex> evaluate_round;  // the round whose state it is asked to measure
  std::optional<wire::EvaluationReport> evaluation;
  double bits_per_byte = 4.5;  // the value that it reports
  Duration evaluation_takes{};
  TimePoint evaluated_at = kNever;  // when its measurement ends

  void train_on() {
    phase = wire::MemberPhase::training;
    group.reset();
  }
  // Steps with the result of the round that its group has averaged, and keeps the report.
  void step(const wire::RoundReport& report, const wire::GroupInfo& averaged_in);
};

class Swarm {
 public:
  explicit Swarm(wire::RunManifest manifest = small_manifest(), RecoveredRun recovered = running_run(),
                 CoordinatorOptions options = {});
  Swarm(const Swarm&) = delete;
  Swarm& operator=(const Swarm&) = delete;

  VirtualMember& add(int number, double samples_per_s = 20);
  VirtualMember& member(int number) { return members_.at(peer_id(number)); }
  void run_for(Duration time);
  // Makes one heartbeat of the member, now.
  HeartbeatDecision call(VirtualMember& member);
  // Replaces the coordinator by one that has only the stored facts.
  void restart_coordinator(CoordinatorOptions options = {});

  // Returns the group that this member would form without a coordinator, for its round; it has stepped at least once.
  [[nodiscard]] static wire::GroupInfo successor_group(const VirtualMember& member);

  // The ledger as a store would keep it.
  std::map<std::pair<RoundIndex, PeerId>, SampleCount> ledger;
  std::vector<RoundDecided> decided;
  std::vector<EvaluationStored> evaluations;
  std::vector<StateAdopted> adopted;
  std::vector<LaneHolder> lanes;
  std::vector<SeatedGroup> groups;  // those that may decide a round
  bool store_takes = true;          // false: the disk is full
  bool tells_lines = false;         // members report what the lines of others carry
  bool coordinator_reachable = true;
  Duration averaging_time = std::chrono::milliseconds(80);
  std::map<PeerId, std::vector<wire::Complaint>> complaints;  // complaints that members make in every report
  std::map<PeerId, SampleCount> averaged;  // samples that members know to be in states that they stepped to

  TimePoint now{std::chrono::seconds(100)};
  WallTime wall{1'700'000'000'000};
  OpenHosts hosts;
  wire::RunState state = wire::RunState::running;
  std::unique_ptr<RunCoordinator> coordinator;

 private:
  void step();
  void train(VirtualMember& member);
  void evaluate(VirtualMember& member);
  void meet(const GroupId& group);
  static wire::Heartbeat heartbeat_of(const VirtualMember& member);
  void finish(VirtualMember& member, const wire::RoundReport& report);
  void take(const std::vector<StoreOp>& ops);
  void store_pending();

  wire::RunManifest manifest_;
  CoordinatorOptions options_;
  std::map<PeerId, VirtualMember> members_;
  std::vector<RoundDecided> pending_;
  std::vector<SeatedGroup> pending_groups_;
  std::optional<RoundIndex> evaluated_;
};

}  // namespace starling::core::testing
