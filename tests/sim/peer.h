// One simulated volunteer: the product's session and averaging engine, with a quadratic for a trainer, a disk that
// survives crashes, and links of the simulated network.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "client/averaging/ended_rounds.h"
#include "client/averaging/staged_reduce.h"
#include "client/session/session.h"
#include "shared/base/ids.h"
#include "tests/sim/network.h"
#include "tests/sim/options.h"
#include "tests/sim/scheduler.h"

namespace starling::sim {

class Peer;

// What a peer needs of the world around it.
class World {
 public:
  virtual ~World() = default;
  virtual Scheduler& scheduler() = 0;
  virtual Network& network() = 0;
  virtual const SwarmOptions& options() const = 0;
  // Null when nobody has that id.
  virtual Peer* find(const PeerId& id) = 0;
  virtual Peer& peer(int index) = 0;
  // The heartbeat's way to the coordinator and back; the reply comes as on_reply or on_no_reply.
  virtual void deliver_heartbeat(Peer& from, const wire::Heartbeat& heartbeat) = 0;
  // The coordinator's copy of the state: a member sends one, if it was asked to, or loads the one that is kept.
  virtual void take_checkpoint(const Peer& from, RoundIndex round, const Digest& digest) = 0;
  virtual const std::vector<float>& kept_state() = 0;
  // For the invariants.
  virtual void on_round_recorded(const Peer& peer, const wire::RoundReport& report) = 0;
  virtual void on_reports_forgotten(const Peer& peer, RoundIndex below) = 0;
  virtual void on_frame_taken(const Peer& peer, const Peer& from, const Status& status) = 0;
  // What the gradient that it brings is made of: (epoch, place) in the order of the draws; none unless they are leased.
  virtual void on_gradient_brought(const Peer& peer, const wire::GroupInfo& group, const averaging::Stake& stake,
                                   const std::vector<std::pair<std::int64_t, std::int64_t>>& samples) = 0;
  virtual void on_averaging_ended(const Peer& peer, Duration took, const averaging::AveragingOutcome& outcome) = 0;
};

class Peer final : private session::Session::Mediator {
 public:
  Peer(World& world, int index, PeerId id, double samples_per_s);
  ~Peer() override;

  // Process life. A crash loses everything but the disk; the others see their links break if `visible`.
  void start();
  void crash();
  [[nodiscard]] bool up() const { return session_ != nullptr; }
  // SIGSTOP and SIGCONT: nothing is processed in between, everything arrives late.
  void freeze_until(TimePoint thaws);

  [[nodiscard]] int index() const { return index_; }
  // Does its fellows harm, on purpose or not.
  [[nodiscard]] bool sends_garbage() const { return index_ >= world_.options().peers - world_.options().garbage_peers; }
  [[nodiscard]] const PeerId& id() const { return id_; }
  [[nodiscard]] std::uint64_t incarnation() const { return incarnation_; }
  [[nodiscard]] std::span<const float> parameters() const { return parameters_; }
  [[nodiscard]] session::Session::View view() const;
  [[nodiscard]] std::int64_t downloads() const { return static_cast<std::int64_t>(fetches_); }
  [[nodiscard]] const std::vector<wire::RoundReport>& pending_reports() const { return disk_.pending; }

  void on_reply(const Result<wire::HeartbeatReply>& reply);
  // Never for a life that is over: that is dropped here.
  void on_frame(const Frame& frame);
  void on_uplink_free();
  void on_link_lost(int from);
  // What its line is said to carry.
  void set_line(const LinkRates& told) { line_ = told; }

 private:
  struct Disk {
    RoundIndex round = 0;
    std::vector<float> parameters;  // empty: no checkpoint yet
    std::vector<wire::RoundReport> pending;
  };
  struct Averaging {
    wire::GroupInfo group;
    averaging::Rank self = 0;
    std::vector<float> input;
    std::vector<float> output;
    std::unique_ptr<averaging::StagedReduce> engine;
    std::vector<int> peer_of;            // by contact, the peer's index
    std::vector<std::int32_t> rank_of;   // by peer's index, the contact; -1 for who is none
    std::vector<std::uint64_t> life_of;  // by contact, of the process that the link leads to; 0: nothing has passed yet
    std::deque<averaging::Rank> ready;   // peers to ask next_frame for, in turn
    TimePoint began{};
    bool told = false;  // the session knows the outcome
  };
  void send_heartbeat(const wire::Heartbeat& heartbeat) override;
  void start_batch(const wire::SampleRange& samples, const session::BatchTarget& target) override;
  void start_averaging(const wire::GroupInfo& group, averaging::Rank self, const averaging::Stake& stake) override;
  void start_step(RoundIndex round) override;
  void start_evaluation() override;
  void fetch_state(std::span<const wire::Endpoint> donors, RoundIndex round, const Digest& digest) override;
  void fetch_checkpoint(const wire::Artefact& file, RoundIndex round, const Digest& digest) override;
  void send_checkpoint(RoundIndex round, const Digest& digest) override;
  void record_round(const wire::RoundReport& report, Duration round_duration) override;
  void forget_reports(RoundIndex below) override;
  void save_checkpoint(RoundIndex round, const Digest& digest) override;

  // Runs `event` at `when`, later if frozen then, never if this incarnation is gone.
  void schedule(TimePoint when, std::function<void()> event);
  [[nodiscard]] bool frozen() const { return world_.scheduler().now() < frozen_until_ || !waiting_.empty(); }
  // Everything that waits happens, in the order in which it came.
  void thaw();
  void after_session_event();
  void after_engine_event(Averaging& averaging);
  void pump();
  bool send_next(Averaging& averaging);
  void send_parting();
  std::unique_ptr<Frame> frame_to(const Peer& to);
  // Who may still wait for something of the round is told that it is over here.
  void take_leave();
  [[nodiscard]] bool averages(const GroupId& group) const;
  void note_members(Averaging& round) const;
  void greet(Averaging& round);
  void take_frame(const Frame& frame);
  void take_round_frame(const Frame& frame);
  // Whether the link still leads to that process. One that came back has another link, and the old one is lost.
  bool link_holds(Averaging& averaging, averaging::Rank rank, std::uint64_t life);
  [[nodiscard]] Digest digest() const;

  World& world_;
  const int index_;
  const PeerId id_;
  const double samples_per_s_;
  LinkRates line_;
  Disk disk_;

  std::uint64_t incarnation_ = 0;
  TimePoint frozen_until_{};
  std::deque<std::function<void()>> waiting_;  // while frozen
  std::unique_ptr<session::Session> session_;
  std::vector<float> parameters_;
  std::array<std::vector<float>, 2> gradients_;
  std::array<std::vector<std::pair<std::int64_t, std::int64_t>>, 2> leased_in_;  // each: (epoch, place)
  std::size_t present_ = 0;  // which of them is the present round's; the other one is the next one's
  std::unique_ptr<Averaging> current_;
  averaging::EndedRounds ended_;
  std::deque<std::pair<int, GroupId>> partings_;  // to whom to say of which round that it is over here
  std::map<int, std::deque<Frame>> early_;        // begins of groups that have not started here; a few each
  std::uint64_t fetches_ = 0;
  TimePoint session_timer_ = kNever;
  TimePoint engine_timer_ = kNever;
};

}  // namespace starling::sim
