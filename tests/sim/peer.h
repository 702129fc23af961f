// One simulated volunteer: the product's session, rounds and averaging engine, with a quadratic for a trainer, a disk
// that survives crashes, and links of the simulated network.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "client/averaging/ended_rounds.h"
#include "client/averaging/staged_reduce.h"
#include "client/rounds/gossip.h"
#include "client/rounds/round_payload.h"
#include "client/session/session.h"
#include "shared/base/ids.h"
#include "tests/sim/contribution_check.h"
#include "tests/sim/learner.h"
#include "tests/sim/network.h"
#include "tests/sim/options.h"
#include "tests/sim/scheduler.h"

namespace starling::sim {

class Peer;
enum class Donation : std::uint8_t;

// The world around a peer.
class World {
 public:
  virtual ~World() = default;
  virtual Scheduler& scheduler() = 0;
  virtual Network& network() = 0;
  virtual const SwarmOptions& options() const = 0;
  virtual const wire::RunManifest& manifest() const = 0;
  // Returns null when nobody has that id.
  virtual Peer* find(const PeerId& id) = 0;
  virtual Peer& peer(int index) = 0;
  // Carries the heartbeat to the coordinator and back; the reply comes as on_reply or on_no_reply.
  virtual void deliver_heartbeat(Peer& from, const wire::Heartbeat& heartbeat) = 0;
  // Reports samples that cannot be used, on the heartbeat's way; no reply.
  virtual void deliver_unusable(const Peer& from, const wire::UnusableSamples& samples) = 0;
  // The coordinator's copy of the state: a member sends one, if it was asked to, or loads the one that is kept.
  virtual void take_checkpoint(const Peer& from, RoundIndex round, const Digest& digest) = 0;
  virtual const std::vector<float>& kept_state() = 0;
  // A frame of an averaging goes out: it is sent as this call leaves it.
  virtual void on_frame_sent(const Peer& peer, const wire::GroupInfo& group, averaging::Rank to, Frame& frame) = 0;
  // The member that the peer says is lost as soon as an averaging begins; none, unless it lies.
  virtual std::optional<averaging::Rank> expelled_by(const Peer& peer, const wire::GroupInfo& group) = 0;
  // The donor's way of giving the state that it says it holds.
  virtual Donation donation_of(const Peer& donor) = 0;
  // The number of the run's frames among those of the other runs on the same links.
  [[nodiscard]] virtual int channel() const { return 0; }
  // True where nobody draws samples: a batch is the gradients of others' samples that have come since the last one.
  // gather() brings its sum, in its own time; of no samples, if none have come.
  using Gathered = std::function<void(SampleCount samples, std::span<const float> sum)>;
  [[nodiscard]] virtual bool gathers() const { return false; }
  virtual void gather(const Peer& /*peer*/, const Gathered& /*done*/) {}
  // The peer's session has processed an event.
  virtual void on_session_event(Peer& /*peer*/) {}
  // Calls for the invariants.
  virtual void on_round_recorded(const Peer& peer, const wire::RoundReport& report) = 0;
  virtual void on_reports_forgotten(const Peer& peer, RoundIndex below) = 0;
  virtual void on_reports_withdrawn(const Peer& peer, RoundIndex from) = 0;
  virtual void on_frame_taken(const Peer& peer, const Peer& from, const Status& status) = 0;
  // A batch is computed: its sum is added to the peer's contribution as this call leaves it.
  virtual void on_computed(const Peer& peer, const wire::SampleRange& samples, std::span<float> sum) = 0;
  // Others' samples are recomputed: the sum is told as this call leaves it.
  virtual void on_recomputed(const Peer& peer, const wire::SampleRange& samples, std::span<float> sum) = 0;
  // Names the samples of the gradient that it brings: (epoch, place) in the order of the draws; none unless they are
  // leased.
  virtual void on_gradient_brought(const Peer& peer, const wire::GroupInfo& group,
                                   const averaging::ContributionTerms& terms,
                                   const std::vector<std::pair<std::int64_t, std::int64_t>>& samples) = 0;
  // Returns the terms that the peer names to its group for a gradient of `truth`.
  [[nodiscard]] virtual averaging::ContributionTerms named_terms(const Peer& peer, const wire::GroupInfo& group,
                                                                 averaging::Rank self,
                                                                 const averaging::ContributionTerms& truth) = 0;
  // A leg of a round begins.
  virtual void on_leg_begun(const Peer& peer, const rounds::Leg& leg) = 0;
  virtual void on_averaging_ended(const Peer& peer, Duration took, const averaging::AveragingOutcome& outcome) = 0;
  virtual void on_mixed(const Peer& peer, const wire::GroupInfo& group, const averaging::AveragingOutcome& outcome) = 0;
  // Consensus distance of this peer's own steps, when a round that it brought samples to is averaged: Learner::spread.
  virtual void on_consensus_distance(const Peer& peer, double consensus_distance) = 0;
  // The common step of a round, on states.
  virtual void on_step(RoundIndex round, std::span<const float> before, std::span<const float> after) = 0;
  // An invariant is broken, in words.
  virtual void fail(std::string what) = 0;
  // `after`: time since the one before, of the same process.
  virtual void on_batch_done(const Peer& peer, Duration after) = 0;
};

class Peer final : private session::Session::Mediator {
 public:
  Peer(World& world, int index, PeerId id, double samples_per_s);
  ~Peer() override;

  // Process life. A crash loses everything except the disk; the others see their links break if `visible`.
  void start();
  void crash();
  [[nodiscard]] bool up() const { return session_ != nullptr; }
  // SIGSTOP and SIGCONT: nothing is processed in between, everything arrives late.
  void freeze_until(TimePoint thaws);
  // Its owner has paused, or goes on.
  void pause(bool paused);
  // Gradients of others' samples have come (World::gathers).
  void on_gradients();
  // Its disk is empty. It is down.
  void forget_disk() { disk_ = Disk(); }

  [[nodiscard]] int index() const { return index_; }
  // True if it does its fellows harm, on purpose or not.
  [[nodiscard]] bool sends_garbage() const {
    const SwarmOptions& options = world_.options();
    return index_ >= options.peers - options.garbage_peers && index_ < options.peers;
  }
  [[nodiscard]] const PeerId& id() const { return id_; }
  [[nodiscard]] std::uint64_t incarnation() const { return incarnation_; }
  // The peer must be up. state: the floats that all agree on, [parameters | moments].
  [[nodiscard]] std::span<const float> parameters() const { return learner_->agreed(); }
  [[nodiscard]] std::span<const float> state() const { return learner_->state(); }
  [[nodiscard]] session::Session::View view() const;
  // Samples in the averaging under way, or the last.
  [[nodiscard]] SampleCount brought() const { return current_ ? current_->weight : 0; }
  // The peer must be up, and for plan() in an averaging, of which this is the leg under way.
  [[nodiscard]] const rounds::RoundPayload& payload() const { return *payload_; }
  [[nodiscard]] const wire::GroupInfo& plan() const { return current_->group; }
  [[nodiscard]] std::int64_t downloads() const { return static_cast<std::int64_t>(fetches_); }
  [[nodiscard]] const std::vector<wire::RoundReport>& pending_reports() const { return disk_.pending; }

  void on_reply(const Result<wire::HeartbeatReply>& reply);
  // A frame for a life that is over is dropped before it gets here.
  void on_frame(const Frame& frame);
  void on_uplink_free();
  void on_link_lost(int from);
  // Sets the reported rates of its line.
  void set_line(const LinkRates& told) { line_ = told; }

 private:
  struct Disk {
    RoundIndex round = 0;
    std::vector<float> state;  // empty: no checkpoint yet
    std::vector<wire::RoundReport> pending;
    session::KnownState known;
  };
  // A round's averaging, or a gossip meeting's.
  struct Averaging {
    wire::GroupInfo group;
    averaging::Rank self = 0;
    SampleCount weight = 0;
    std::unique_ptr<averaging::StagedReduce> engine;
    std::vector<int> peer_of;           // by contact, the peer's index
    std::vector<std::int32_t> rank_of;  // by peer's index, the contact; -1: none
    // by contact, the life of the process that the link leads to; 0: nothing has passed yet
    std::vector<std::uint64_t> life_of;
    std::deque<averaging::Rank> ready;  // peers to ask next_frame for, in turn
    TimePoint began{};
    TimePoint timer = kNever;
    bool told = false;  // the session, or the gossip's decisions, has the outcome
  };
  using Samples = std::vector<std::pair<std::int64_t, std::int64_t>>;  // each: (epoch, place)

  void send_heartbeat(const wire::Heartbeat& heartbeat) override;
  void start_batch(const wire::SampleRange& samples, const session::BatchTarget& target) override;
  void report_unusable(const wire::UnusableSamples& samples) override { world_.deliver_unusable(*this, samples); }
  void start_averaging(const wire::GroupInfo& group, averaging::Rank self,
                       const averaging::ContributionTerms& terms) override;
  void start_step(RoundIndex round) override;
  void start_evaluation() override;
  void fetch_state(std::span<const wire::Endpoint> donors, RoundIndex round, const Digest& digest) override;
  void fetch_checkpoint(const wire::Artefact& file, RoundIndex round, const Digest& digest) override;
  void make_initial_state(const Digest& digest) override;
  void send_checkpoint(RoundIndex round, const Digest& digest) override;
  void record_round(const wire::RoundReport& report, Duration round_duration) override;
  void forget_reports(RoundIndex below) override;
  void withdraw_reports(RoundIndex from) override;
  void forget_previous_state() override { previous_state_.clear(); }
  void restore_previous_state(RoundIndex round, const Digest& digest) override;
  void save_checkpoint(RoundIndex round, const Digest& digest) override;
  std::optional<Digest> prove_state(const Hash128& challenge, const Digest& wanted) override;
  bool keep_audited_state(RoundIndex round) override;
  void forget_audited_state(RoundIndex round) override { audited_.erase(round); }
  void start_audit(const session::Audits::Piece& piece) override;
  std::optional<wire::OwnSketches> own_sketches(RoundIndex round, const Hash128& seed) override;

  struct Download;
  void go_on(const std::shared_ptr<Download>& download);
  void ask(const std::shared_ptr<Download>& download, std::size_t number, const wire::StateRequest& request);
  [[nodiscard]] std::vector<session::Session::Received> received();
  // Returns whether one of the samples cannot be used.
  [[nodiscard]] bool has_unusable(const wire::SampleRange& samples) const;
  // Returns has_unusable(), and notes the sample when it is alone.
  bool passes_over(const wire::SampleRange& samples);
  // Runs `event` at `when`, later if frozen then, never if this incarnation is gone.
  void schedule(TimePoint when, std::function<void()> event);
  [[nodiscard]] bool frozen() const { return world_.scheduler().now() < frozen_until_ || !waiting_.empty(); }
  // Runs everything that waits, in the order in which it came.
  void thaw();
  void after_session_event();
  // Returns the averaging of this group: the round's or the gossip meeting under way.
  [[nodiscard]] Averaging* averaging_of(const GroupId& group) const;
  [[nodiscard]] std::vector<Averaging*> averagings() const;
  std::unique_ptr<Averaging> averaging_in(const rounds::Leg& leg) const;
  void begin(Averaging& averaging, const rounds::Leg& leg);
  // Whether the member was lost in the leg that the present one follows, or since.
  [[nodiscard]] bool is_lost_before(averaging::Rank rank) const;
  void after_engine_event(Averaging& averaging);
  void on_averaged(const GroupId& id, Duration took, const averaging::AveragingOutcome& outcome);
  void on_met(const GroupId& id, const averaging::AveragingOutcome& outcome);
  void pump();
  bool send_next(Averaging& averaging);
  void send_parting();
  std::unique_ptr<Frame> frame_to(const Peer& to);
  // Tells members that may still wait for a frame of it that it is over here.
  void announce_end(std::unique_ptr<Averaging>& averaging, averaging::EndedRounds& ended);
  void note_members(Averaging& averaging) const;
  void greet(Averaging& averaging);
  void take_frame(const Frame& frame);
  void take_engine_frame(Averaging& averaging, const Frame& frame);
  [[nodiscard]] double batch_seconds(SampleCount samples);
  struct Batch;  // under way
  void finish_batch(const Batch& batch);
  void gather(const Batch& batch);
  void take(const Batch& batch, SampleCount samples, std::span<const float> added);
  void follow(rounds::Move move);
  // Ends the round's averaging.
  void abandon();
  // Gossips after an own step.
  void on_stepped();
  void meet(const std::optional<rounds::Leg>& leg);
  void begin_gossip(const wire::RoundReport& report);
  void end_meeting();
  // Returns whether the link still leads to that process. One that came back has another link, and the old one is lost.
  bool link_holds(Averaging& averaging, averaging::Rank rank, std::uint64_t life);
  [[nodiscard]] Digest digest() const;

  World& world_;
  const int index_;
  const PeerId id_;
  const double samples_per_s_;
  std::mt19937_64 rng_;
  LinkRates line_;
  Disk disk_;

  std::uint64_t incarnation_ = 0;
  TimePoint frozen_until_{};
  std::deque<std::function<void()>> waiting_;  // while frozen
  std::unique_ptr<session::Session> session_;
  std::unique_ptr<Learner> learner_;
  std::vector<float> previous_state_;                 // before the last step; empty: not kept
  std::map<RoundIndex, std::vector<float>> audited_;  // the parameters at which others' samples are recomputed
  std::optional<rounds::RoundPayload> payload_;
  std::optional<ContributionCheck> check_;
  std::unique_ptr<rounds::Gossip> gossip_;  // one bucket, all parameters; null where there is none
  double consensus_distance_ = 0;           // at the end of the last round
  std::array<Samples, 2> leased_in_;        // leased samples, by ContributionCheck::sum_of
  Samples passed_over_;                     // since the last batch
  std::unique_ptr<Averaging> current_;      // a round's
  std::unique_ptr<Averaging> before_;       // the leg that it follows, if any
  std::unique_ptr<Averaging> meeting_;      // gossip's
  averaging::EndedRounds ended_;
  averaging::EndedRounds ended_meetings_;
  std::deque<std::pair<int, GroupId>> partings_;  // peers, with the round that they must hear is over here
  std::map<int, std::deque<Frame>> early_;        // begins of groups that have not started here; a few each
  std::uint64_t fetches_ = 0;
  bool has_gradients_ = false;  // since the last batch
  TimePoint gathered_at_{};     // the end of the last batch of others' gradients
  TimePoint session_timer_ = kNever;
  TimePoint batch_done_ = kNever;  // the last one of this process; kNever: none yet
};

}  // namespace starling::sim
