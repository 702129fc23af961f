// One volunteer in one run: the state machine that turns heartbeats, batches and averages into training.
//
// With delayed parameter updates (SessionOptions) training goes on while the group averages: those batches add to the
// next round's gradient, at parameters that are one step old, until the group's step is done too. A state is still
// named only after a step, and no other begins before.
//
// The session decides; the Mediator acts. Every Mediator call starts something and returns at once; its end comes back
// as one of the on_* events, on the same (control) thread. The daemon's Mediator is processes, sockets and files; the
// simulator's is virtual time. `now` is an argument everywhere.
//
// One computation (batch, step, evaluation or audit) runs at a time; only a delayed step has batches beside it. A
// replica that is not synced (replica.h) trains nothing and fetches the state from donors.
//
// The state of a session is that of its parts: the Replica (which model it holds), the RoundCycle (where it is with its
// group), the Computation, the CoordinatorLink, and what waits to be told (ReportQueue, Evaluations). The session makes
// them work together and calls the Mediator.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/averaging/all_reduce.h"
#include "client/session/audits.h"
#include "client/session/computation.h"
#include "client/session/coordinator_link.h"
#include "client/session/draws.h"
#include "client/session/replica.h"
#include "client/session/report_queue.h"
#include "client/session/round_cycle.h"
#include "client/session/round_progress.h"
#include "client/session/state_chain.h"
#include "client/session/trainer.h"
#include "shared/base/clock.h"
#include "shared/base/hash.h"
#include "shared/base/ids.h"
#include "shared/base/limited_log.h"
#include "shared/base/result.h"
#include "shared/protocol/round_report.h"
#include "shared/protocol/states.h"
#include "shared/protocol/unusable_samples.h"
#include "shared/swarm/plausible.h"

namespace starling::wire {
struct Heartbeat;
struct HeartbeatReply;
}  // namespace starling::wire

namespace starling::session {

// The session's activity, for display and for the coordinator; it follows from the state of the parts and decides
// nothing.
enum class Phase : std::uint8_t { joining, waiting, downloading, training, averaging, stepping, evaluating, paused };
std::string_view to_string(Phase phase);

// The activity that the volunteer sees: one phase and, unless it trains, one reason and the event that ends it.
struct Activity {
  Phase phase = Phase::joining;
  std::string reason;
  std::string ends_when;
};

// The run, this computer, and the manifest's choices that a session follows; fixed for its life.
struct SessionOptions {
  RunId run_id;
  PeerId self;
  SampleCount micro_batch_size = 8;
  SampleCount samples_max = swarm::kMemberSamplesMax;  // for one round: more would not be believed
  // True if samples are leased (wire::samples_in_epochs), while the coordinator can be reached or leases last. Without
  // either, training goes on with samples that count toward no epoch.
  bool leased = false;
  // False: this volunteer holds cells of the model alone. Its session of the trunk's run has no state and is in no
  // round: it calls the coordinator, and that is all.
  bool has_state = true;
  int listen_port = 0;  // the peer transport's; 0: cannot be dialled
  std::uint64_t seed = 1;
  Duration checkpoint_interval = std::chrono::seconds(20);
  bool delay_parameter_updates = false;  // wire::RunManifest
  bool audits = false;                   // the run's work is checked: this member takes part in that
  Digest initial_state_digest{};         // wire::RunManifest; zero: taken from the coordinator
  StateTrust trust{};                    // the states that are believed
};

// The state that the replica has when the session starts: round 0 (Trainer::initialize) or a checkpoint.
struct InitialState {
  RoundIndex round = 0;
  Digest digest;
  std::vector<wire::RoundReport> unacknowledged;  // kept on disk by an earlier session, oldest first
};

class Session {
 public:
  class Mediator {
   public:
    virtual ~Mediator() = default;
    virtual void send_heartbeat(const wire::Heartbeat& heartbeat) = 0;
    // Adds to the gradient of the target's round: the present one, or the next one while the present one's is averaged.
    virtual void start_batch(const wire::SampleRange& samples, const BatchTarget& target) = 0;
    // Sends the coordinator these once: nothing depends on their arrival.
    virtual void report_unusable(const wire::UnusableSamples& samples) = 0;
    // Averages the present round's gradient (weight 0: none was computed) with the group.
    virtual void start_averaging(const wire::GroupInfo& group, averaging::Rank self,
                                 const averaging::ContributionTerms& terms) = 0;
    // Steps on the averaged gradient, then computes the new state's digest. When it is done, the next round's gradient
    // so far becomes the present one's; batches that began before end in it. The state before the step is kept, if
    // there is room for it, until forget_previous_state() or the next step.
    virtual void start_step(RoundIndex round) = 0;
    virtual void forget_previous_state() = 0;
    virtual void start_evaluation() = 0;
    // Ends a download under way, if there is one; its on_state_fetched need not come, and changes nothing if it does.
    virtual void fetch_state(std::span<const wire::Endpoint> donors, RoundIndex round, const Digest& digest) = 0;
    // Like fetch_state, but from the copy that the coordinator keeps in this file. A fetch of any kind ends the one
    // before.
    virtual void fetch_checkpoint(const wire::Artefact& file, RoundIndex round, const Digest& digest) = 0;
    // Like fetch_state, for the state of round 0, which has this digest and is made here, without anybody else.
    virtual void make_initial_state(const Digest& digest) = 0;
    // Like fetch_state, for the state before the last step, which was kept here.
    virtual void restore_previous_state(RoundIndex round, const Digest& digest) = 0;
    // Sends the coordinator a copy of the state, in its own time, if the replica holds that state.
    virtual void send_checkpoint(RoundIndex round, const Digest& digest) = 0;
    // Durable when it returns: the round's report survives a crash until one of the next two calls removes it.
    virtual void record_round(const wire::RoundReport& report, Duration round_duration) = 0;
    // Rounds below this are settled: the ledger has them.
    virtual void forget_reports(RoundIndex below) = 0;
    // The results of this round and of all later ones do not count.
    virtual void withdraw_reports(RoundIndex from) = 0;
    virtual void save_checkpoint(RoundIndex round, const Digest& digest) = 0;
    // Keeps the parameters with which this round began, those of the state before the last step, for audits, until
    // forget_audited_state(); wire::kAuditStatesMax at most. Returns whether they are at hand.
    virtual bool keep_audited_state(RoundIndex /*round*/) { return false; }
    virtual void forget_audited_state(RoundIndex /*round*/) {}
    // Recomputes the gradient of the piece's samples, summed, at the parameters of its round, and sketches its parts.
    // Ends in on_audited().
    virtual void start_audit(const Audits::Piece& /*piece*/) {}
    // This member's own sketches of its contribution to this round, with this seed; nothing if the vectors are gone. It
    // takes a few passes over the vector.
    virtual std::optional<wire::OwnSketches> own_sketches(RoundIndex /*round*/, const Hash128& /*seed*/) {
      return std::nullopt;
    }
    // True if this computer's self-test has found nothing wrong since its work was found false for the last time;
    // `missed`: how often it was. It is quick, and asked before heartbeats then.
    virtual bool passed_self_test(std::int64_t /*missed*/) { return false; }
    // Returns the proof that the replica has the floats of this state (state::holding_proof), or nothing if it has not,
    // or not at this moment. It is quick, and asked before every heartbeat.
    virtual std::optional<Digest> prove_state(const Hash128& challenge, const Digest& digest) = 0;
  };

  // `mediator` outlives the session.
  Session(SessionOptions options, InitialState initial, Mediator& mediator);

  void start(TimePoint now);
  void on_timer(TimePoint now);
  // The next moment after `now` at which on_timer has something to do; kNever when only an event can change that.
  [[nodiscard]] TimePoint next_deadline(TimePoint now) const;

  void on_heartbeat_reply(TimePoint now, const wire::HeartbeatReply& reply);
  void on_heartbeat_failed(TimePoint now, const Error& error);
  void on_batch_done(TimePoint now, const Result<BatchReport>& result);
  void on_averaged(TimePoint now, const averaging::AveragingOutcome& outcome);
  void on_step_done(TimePoint now, const Result<Digest>& new_state);
  void on_evaluated(TimePoint now, const Result<Evaluation>& result);
  // kSketchFloats numbers for each of the parts, or why they cannot be had.
  void on_audited(TimePoint now, const Result<std::vector<double>>& sketches);
  // The cause of the last failed computation is gone: it is tried again at once.
  void retry_now(TimePoint now);
  // ok: the replica is at this state now.
  void on_state_fetched(TimePoint now, RoundIndex round, const Digest& digest, const Status& status);
  // The rate at which data of a peer came in, in the best moments of the links with it.
  struct Received {
    PeerId peer;
    double bytes_per_s = 0;  // above 0
  };
  // Sets the rates that its links have shown in finished rounds and downloads, 0 if not known; they ride on the next
  // heartbeat. round_trip_s: the usual one to other members. received: at most one of each peer; for the next reports.
  void set_line(double upload_bytes_per_s, double download_bytes_per_s, double round_trip_s,
                std::vector<Received> received);
  // Notes a change that the coordinator should know: it is called soon.
  void tell_soon(TimePoint now);
  // Sets the pause that the volunteer (or a rule) requests. No batch begins any more, and one that is ended in the
  // middle (unavailable) is no failure; a meeting that is about to begin, or under way, is finished first.
  void set_paused(TimePoint now, bool paused, std::string reason);

  // A copy of the session's figures, for status displays.
  struct View {
    Activity activity;
    RoundIndex state_round = 0;
    Digest state_digest;
    bool synced = false;
    SampleCount samples_this_round = 0;
    SampleCount samples_total = 0;  // computed by this session
    std::int64_t rounds_done = 0;
    std::int64_t rounds_failed = 0;  // the group went on without it, or diverged: a round's work was lost
    double samples_per_s = 0;
    double loss = 0;                                   // the last finished round's, nats
    std::optional<wire::EvaluationReport> evaluation;  // the last one measured here
    std::size_t reports_waiting = 0;
    std::string trouble;  // why the trainer fails again and again; empty: it does not
    bool coordinator_away = false;
    std::string plan;  // the reason that the last averaging's plan gives for its choice
    std::shared_ptr<const wire::HeartbeatReply> last_reply;  // null: none has come
    std::optional<wire::CheckedWork> checked;                // unset: nobody has said how this member's work stands
  };
  [[nodiscard]] View view(TimePoint now) const;

 private:
  // The next batch waits for this.
  enum class Lacking : std::uint8_t { nothing, room, samples };
  enum class LeftOut : std::uint8_t {
    no,
    with_few,  // half of the group or more is gone, and the coordinator is away
    by_most    // the group went on without this member: if that decides the round, the work is lost
  };
  struct Supply {
    Lacking lacking = Lacking::nothing;
    SampleCount asked_for = -1;  // Draws::end() when the coordinator was last called for more leases
  };
  struct Pause {
    bool requested = false;
    std::string reason;
    // A pause ends the trainer at once, even in the middle of a computation: nothing has failed.
    [[nodiscard]] bool explains(const Error& error) const { return requested && error.code == ErrorCode::unavailable; }
  };
  struct Line {  // rates in bytes a second, 0: not known
    double upload = 0;
    double download = 0;
    double round_trip_s = 0;
    std::vector<Received> received;
  };
  struct Totals {
    SampleCount samples = 0;
    std::int64_t rounds_done = 0;
    std::int64_t rounds_failed = 0;
    double last_loss = 0;
  };

  struct Told {               // by the coordinator, and of it in the log
    std::string plan_reason;  // the last plan's
    LimitedLog refused_plans;
    LimitedLog small_groups;  // without the coordinator
    LimitedLog void_results;
  };

  void advance(TimePoint now);
  void compute_next(TimePoint now);
  void compute_batch(TimePoint now);
  [[nodiscard]] std::optional<wire::SampleRange> begin_batch(TimePoint now, bool& leased);
  void ask_for_leases(TimePoint now);
  void compute_audit(TimePoint now);
  void take_batch(TimePoint now, const BatchReport& report, const Computation::Batch& batch);
  [[nodiscard]] bool tries_less(const Error& error, const Computation::Batch& batch);
  void fetch(const StateSource& source);
  void settle_reports(TimePoint now, const wire::HeartbeatReply& reply);
  void send_heartbeat(TimePoint now);
  void take_sync_verdict(TimePoint now, const wire::HeartbeatReply& reply);
  bool take_group(TimePoint now, const wire::GroupInfo& group);
  void plan_without_coordinator(TimePoint now);
  void begin_averaging(TimePoint now);
  void leave_group(TimePoint now);
  void finish_round(TimePoint now, const Digest& new_state);
  void on_sync_lost(TimePoint now);
  void begin_round(TimePoint now);
  [[nodiscard]] bool may_train() const;
  [[nodiscard]] bool meeting_is_due(TimePoint now) const;
  [[nodiscard]] wire::MemberPhase member_phase() const;
  [[nodiscard]] Activity activity(TimePoint now) const;

  SessionOptions options_;
  Mediator& mediator_;
  CoordinatorLink link_;
  std::int64_t process_;  // Heartbeat::process
  Replica replica_;
  RoundCycle cycle_;
  Computation computation_;
  RoundProgress progress_;
  Draws draws_;
  Supply supply_;
  LeftOut left_out_ = LeftOut::no;  // by this round's last group
  ReportQueue reports_;
  Evaluations evaluations_;
  Audits audits_;
  std::shared_ptr<const wire::HeartbeatReply> last_reply_;  // null: none has come
  Told told_;
  TimePoint last_checkpoint_{};
  Pause pause_;
  Line line_;
  Totals totals_;
};

}  // namespace starling::session
