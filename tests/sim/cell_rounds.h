// The rounds of one cell in a simulated swarm: a run of its own among the volunteers that hold it, with the product's
// sessions, averaging and coordinator, as in client/daemon/cell_run.h. A volunteer is a member while it holds the cell.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tests/sim/cell_volunteer.h"
#include "tests/sim/coordinator.h"
#include "tests/sim/invariants.h"
#include "tests/sim/options.h"
#include "tests/sim/peer.h"

namespace starling::sim {

class CellRounds final : private World {
 public:
  using Volunteers = std::vector<std::unique_ptr<CellVolunteer>>;
  // world, and volunteers that are all there, outlive this object.
  CellRounds(CellWorld& world, const Volunteers& volunteers, wire::CellIndex cell);

  void start_coordinator() { coordinator_.start(); }
  void crash_coordinator() { coordinator_.crash(); }
  // Members that have the state and do not pause. The coordinator is up.
  [[nodiscard]] std::vector<PeerId> holders() const { return coordinator_.holders(); }

  // Members that the others could not rely on, and which take no part for some rounds.
  [[nodiscard]] int sit_out() const { return static_cast<int>(sit_out_.size()); }

  // The volunteer holds the cell from now on.
  void begin(int volunteer);
  // It tells the coordinator that it does not any more: before end().
  void farewell(int volunteer);
  // It does not any more. keep: its disk keeps the state. reset: the others hear at once that it is gone.
  void end(int volunteer, bool keep, bool reset);
  [[nodiscard]] bool has(int volunteer) const { return member(volunteer).up(); }
  [[nodiscard]] bool has_state(int volunteer) const { return has(volunteer) && member(volunteer).view().synced; }
  void freeze_until(int volunteer, TimePoint thaws) { member(volunteer).freeze_until(thaws); }
  void pause(int volunteer, bool paused);
  void on_gradients(int volunteer);
  void on_frame(const Frame& frame) { member(frame.to).on_frame(frame); }
  void pump(int volunteer) { member(volunteer).on_uplink_free(); }

  // The cell's parameters there; a member.
  [[nodiscard]] std::span<const float> parameters(int volunteer) const { return member(volunteer).parameters(); }

  // All members that have the swarm's state of one round have the same bits; for a swarm that is well.
  void check_equal();
  // The invariant that is broken, in words; empty if none is.
  [[nodiscard]] std::string broken() const;
  [[nodiscard]] RoundIndex rounds() const { return static_cast<RoundIndex>(coordinator_.store().rounds.size()); }

 private:
  Scheduler& scheduler() override { return world_.scheduler(); }
  Network& network() override { return world_.network(); }
  [[nodiscard]] const SwarmOptions& options() const override { return options_; }
  [[nodiscard]] const wire::RunManifest& manifest() const override { return manifest_; }
  Peer* find(const PeerId& id) override {
    return peers_[static_cast<std::size_t>(world_.directory().index_of(id))].get();
  }
  Peer& peer(int index) override { return member(index); }
  void deliver_heartbeat(Peer& from, const wire::Heartbeat& heartbeat) override;
  void deliver_unusable(const Peer& /*from*/, const wire::UnusableSamples& /*samples*/) override {}
  void take_checkpoint(const Peer& from, RoundIndex round, const Digest& digest) override;
  const std::vector<float>& kept_state() override { return coordinator_.store().checkpoint_state; }
  void on_frame_sent(const Peer& /*peer*/, const wire::GroupInfo& /*group*/, averaging::Rank /*to*/,
                     Frame& /*frame*/) override {}
  std::optional<averaging::Rank> expelled_by(const Peer& /*peer*/, const wire::GroupInfo& /*group*/) override {
    return std::nullopt;
  }
  Donation donation_of(const Peer& donor) override;
  [[nodiscard]] int channel() const override { return cell_; }
  [[nodiscard]] bool gathers() const override { return true; }
  void gather(const Peer& peer, const Gathered& done) override;
  void on_session_event(Peer& peer) override;
  void on_round_recorded(const Peer& peer, const wire::RoundReport& report) override;
  void on_reports_forgotten(const Peer& peer, RoundIndex below) override;
  void on_reports_withdrawn(const Peer& peer, RoundIndex from) override;
  void on_frame_taken(const Peer& peer, const Peer& from, const Status& status) override;
  void on_computed(const Peer& /*peer*/, const wire::SampleRange& /*samples*/, std::span<float> /*sum*/) override {}
  void on_recomputed(const Peer& /*peer*/, const wire::SampleRange& /*samples*/, std::span<float> /*sum*/) override {}
  void on_gradient_brought(const Peer& peer, const wire::GroupInfo& group, const averaging::ContributionTerms& terms,
                           const std::vector<std::pair<std::int64_t, std::int64_t>>& samples) override;
  averaging::ContributionTerms named_terms(const Peer& /*peer*/, const wire::GroupInfo& /*group*/,
                                           averaging::Rank /*self*/,
                                           const averaging::ContributionTerms& truth) override {
    return truth;
  }
  void on_leg_begun(const Peer& peer, const rounds::Leg& leg) override;
  void on_averaging_ended(const Peer& peer, Duration took, const averaging::AveragingOutcome& outcome) override;
  void on_mixed(const Peer& /*peer*/, const wire::GroupInfo& /*group*/,
                const averaging::AveragingOutcome& /*outcome*/) override {}
  void on_consensus_distance(const Peer& /*peer*/, double /*consensus_distance*/) override {}
  void on_step(RoundIndex round, std::span<const float> before, std::span<const float> after) override {
    invariants_.on_step(round, before, after);
  }
  void fail(std::string what) override { invariants_.fail(std::move(what)); }
  void on_batch_done(const Peer& /*peer*/, Duration /*after*/) override {}

  void watch_coordinator();
  void on_durable(const core::RoundDecided& round);
  void on_adopted(const core::StateAdopted& adopted);
  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(rng_); }
  [[nodiscard]] Peer& member(int index) const { return *peers_[static_cast<std::size_t>(index)]; }

  CellWorld& world_;
  const Volunteers& volunteers_;
  const wire::CellIndex cell_;
  const wire::RunManifest manifest_;
  SwarmOptions options_;
  std::mt19937_64 rng_;
  Coordinator coordinator_;
  Invariants invariants_;
  std::vector<std::unique_ptr<Peer>> peers_;  // by volunteer
  std::vector<wire::Heartbeat> last_beats_;   // likewise, and what has come since then
  std::set<PeerId> sit_out_;
  SampleCount counted_ = 0;  // samples of rounds that count
  RoundIndex uncopied_ = 0;  // rounds without the coordinator, since it was sent a copy
};

}  // namespace starling::sim
