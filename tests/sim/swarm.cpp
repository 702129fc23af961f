#include "tests/sim/swarm.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "coordinator/accounts/policy.h"
#include "coordinator/core/heartbeat_decision.h"
#include "shared/base/log.h"
#include "shared/protocol/heartbeat.h"
#include "tests/plots/dot_plot.h"
#include "tests/sim/cheats.h"
#include "tests/sim/coordinator.h"
#include "tests/sim/credited.h"
#include "tests/sim/invariants.h"
#include "tests/sim/liar.h"
#include "tests/sim/network.h"
#include "tests/sim/outcome_log.h"
#include "tests/sim/peer.h"
#include "tests/sim/quadratic_problem.h"
#include "tests/sim/signatures.h"
#include "tests/sim/statistics.h"
#include "tests/sim/swarm_manifest.h"

namespace starling::sim {
namespace {

constexpr Duration kHeartbeatDeadline = std::chrono::seconds(5);
// No averaging of a small vector may take longer, whatever happens: the begin deadline, one silence for each fault that
// can hit it, and its bytes.
constexpr Duration kAveragingMax = std::chrono::seconds(120);
// A member whose call is lost hears nothing for kHeartbeatDeadline; within this time after it, it has called again, and
// knows that it missed its group.
constexpr Duration kRecoveredWithin = std::chrono::seconds(3);
constexpr Duration kWellWithin = std::chrono::seconds(8);
constexpr double kSlower = 100;  // ratio of the reported and the real rate
constexpr double kFirstComeS = 3;
constexpr int kFirst = 4;  // peers that come first
// The most time in which a member is without the swarm's state, while members lie that they have it.
constexpr Duration kWithoutStateMax = std::chrono::seconds(20);
constexpr RoundIndex kSitsOutWithin = 20;  // rounds in which a lie that leaves a proof is punished
constexpr Duration kCrowdLooks = std::chrono::seconds(1);
constexpr AccountId kSybilAccount = 1'000'000;
// The distance of the begin from the furthest sample: a member that is further away has left the problem behind. With
// error feedback it may be: a small round after larger ones also brings what they have left out, over its own samples.
constexpr double kConsensusDistanceMax = kStart + 1;
constexpr std::size_t kEventsWaitingMax = 4'000'000;

class Swarm final : private World, private Network::Mediator {
 public:
  Swarm(const SwarmOptions& options, wire::RunManifest manifest)
      : options_(options),
        manifest_(std::move(manifest)),
        rng_(options.seed),
        network_(scheduler_, *this),
        coordinator_(scheduler_, options_, manifest_) {}

  SwarmResult run(const std::function<void(double)>& on_progress);

 private:
  Scheduler& scheduler() override { return scheduler_; }
  Network& network() override { return network_; }
  [[nodiscard]] const SwarmOptions& options() const override { return options_; }
  [[nodiscard]] const wire::RunManifest& manifest() const override { return manifest_; }
  Peer* find(const PeerId& id) override { return by_id_.contains(id) ? by_id_.at(id) : nullptr; }
  Peer& peer(int index) override { return *peers_[static_cast<std::size_t>(index)]; }
  void on_arrived(const Frame& frame) override { peer(frame.to).on_frame(frame); }
  void on_uplink_free(int index) override { peer(index).on_uplink_free(); }
  void deliver_heartbeat(Peer& from, const wire::Heartbeat& heartbeat) override;
  void deliver_unusable(const Peer& from, const wire::UnusableSamples& samples) override;
  void take_checkpoint(const Peer& from, RoundIndex round, const Digest& digest) override;
  const std::vector<float>& kept_state() override { return coordinator_.store().checkpoint_state; }
  void on_round_recorded(const Peer& peer, const wire::RoundReport& report) override;
  void on_reports_forgotten(const Peer& peer, RoundIndex below) override;
  void on_reports_withdrawn(const Peer& peer, RoundIndex from) override;
  void on_frame_taken(const Peer& peer, const Peer& from, const Status& status) override;
  void on_computed(const Peer& peer, const wire::SampleRange& samples, std::span<float> sum) override {
    if (!lies(peer)) return honest_sum_.assign(sum.begin(), sum.end());
    const bool is_false = liar_of(peer).poison(sum, honest_sum_);
    cheats_.on_computed(peer.id(), samples, sum, is_false);
  }
  void on_recomputed(const Peer& peer, const wire::SampleRange& samples, std::span<float> sum) override {
    if (peer.index() < options_.colluders) cheats_.cover_up(samples, sum);
  }
  void on_frame_sent(const Peer& peer, const wire::GroupInfo& group, averaging::Rank to, Frame& frame) override {
    if (lies(peer)) liar_of(peer).change(group, to, frame);
  }
  std::optional<averaging::Rank> expelled_by(const Peer& peer, const wire::GroupInfo& group) override {
    return lies(peer) ? liar_of(peer).expels(group) : std::nullopt;
  }
  Donation donation_of(const Peer& donor) override { return lies(donor) ? liar_of(donor).donates() : Donation::truth; }
  void on_gradient_brought(const Peer& peer, const wire::GroupInfo& group, const averaging::ContributionTerms& terms,
                           const std::vector<std::pair<std::int64_t, std::int64_t>>& samples) override {
    if (lies(peer)) cheats_.on_contributed(peer.id(), group.round);
    invariants_.on_plan(group);
    invariants_.on_gradient(peer.id(), group.grid ? group.grid->id : group.id, terms, samples);
  }
  averaging::ContributionTerms named_terms(const Peer& peer, const wire::GroupInfo& group, averaging::Rank self,
                                           const averaging::ContributionTerms& truth) override {
    const SampleCount most = group.members[self].weight_max;
    if (lies(peer)) return liar_of(peer).name(truth, most);
    if (most == 0 || truth.weight <= most) return truth;
    result_.honest_samples_beyond += truth.weight - most;
    log_debug("{:.3f} peer {} has {} samples, and room for {}", to_seconds(scheduler_.now().time_since_epoch()),
              peer.index(), truth.weight, most);
    return truth;
  }
  void on_leg_begun(const Peer& peer, const rounds::Leg& leg) override;
  void on_averaging_ended(const Peer& peer, Duration took, const averaging::AveragingOutcome& outcome) override;
  void on_step(RoundIndex round, std::span<const float> before, std::span<const float> after) override {
    invariants_.on_step(round, before, after);
    result_.distances[round] = Learner::distance(after.first(wire::parameter_count(manifest_.model)));
  }
  void fail(std::string what) override { invariants_.fail(std::move(what)); }
  void on_mixed(const Peer& peer, const wire::GroupInfo& group, const averaging::AveragingOutcome& outcome) override;
  void on_consensus_distance(const Peer& peer, double consensus_distance) override;
  void on_batch_done(const Peer& peer, Duration after) override;

  void add_peers();
  void watch_coordinator();
  // Starts the peer as soon as the project has enough established accounts.
  void join_established(Peer& peer);
  [[nodiscard]] bool is_lied_to(const PeerId& peer) const;
  void invent_state(wire::HeartbeatReply& reply) const;
  [[nodiscard]] bool lies(const Peer& peer) const { return peer.index() >= options_.peers; }
  [[nodiscard]] Liar& liar_of(const Peer& peer) {
    return liars_[static_cast<std::size_t>(peer.index() - options_.peers)];
  }
  [[nodiscard]] bool lost_a_call(const Peer& peer) const;
  [[nodiscard]] bool honest_decide(const GroupId& id) const;
  [[nodiscard]] Lie lie_of(int index) const { return lie_in_turn(options_.byzantine, index); }
  [[nodiscard]] AccountId account_of(int index) const;
  void plan_faults();
  void plan_hiccups();
  void plan_kills();
  void fault();
  // `reset`: its system tells the others that the links are gone.
  void crash_peer(Peer& peer, bool reset, Duration down);
  void note_round(RoundIndex round);
  void crash_coordinator();
  void note_who_is_well();
  void note_who_is_in_step();
  void note_who_lacks_the_state();
  void note_seat(const core::SeatChanged& change);
  void check_seats();
  void log_where_everybody_is();
  void check_well(RoundIndex rounds_before_calm);
  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(rng_); }
  Peer& random_peer() { return *peers_[std::uniform_int_distribution<std::size_t>(0, peers_.size() - 1)(rng_)]; }
  [[nodiscard]] double filled(const core::RoundDecided& round) const;
  [[nodiscard]] TimePoint kills_begin() const { return TimePoint() + options_.length / 3; }
  [[nodiscard]] bool kills_begun() const {
    return options_.seconds_between_kills > 0 && scheduler_.now() >= kills_begin();
  }

  SwarmOptions options_;
  wire::RunManifest manifest_;
  std::mt19937_64 rng_;
  Scheduler scheduler_;
  Network network_;
  Coordinator coordinator_;
  Invariants invariants_{options_, manifest_};
  SwarmResult result_;
  Cheats cheats_{options_.audit_rate};
  std::vector<float> honest_sum_;  // the last one that was computed
  std::set<const Peer*> well_;     // seen at the swarm's state near the end
  double samples_per_s_ = 0;       // rate of all peers
  RoundIndex newest_round_ = -1;   // newest round that anybody has finished
  TimePoint newest_round_at_{};
  std::vector<double> calm_rounds_s_;        // times from one to the next until somebody was killed
  std::vector<double> consensus_distances_;  // those since somebody was killed
  std::vector<double> filled_;               // SwarmResult::batch_filled of each round
  Credited credited_usually_;
  Credited credited_with_kills_;
  std::int64_t looks_ = 0;  // number of looks at a peer, in weather of all kinds
  std::int64_t looks_in_step_ = 0;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::unordered_map<PeerId, Peer*> by_id_;
  std::vector<Liar> liars_;                        // the last peers'
  std::map<const Peer*, TimePoint> lost_call_at_;  // the last one
  std::map<const Peer*, TimePoint> without_state_since_;
  std::map<PeerId, RoundIndex> first_out_;                              // the first round that a member sat out
  std::map<std::pair<const Peer*, RoundIndex>, SampleCount> expelled_;  // honest members' samples of the round
};

AccountId Swarm::account_of(int index) const {
  if (index >= options_.peers && lie_of(index - options_.peers) == Lie::sybil) return kSybilAccount;
  return 1 + (options_.accounts > 0 ? index % options_.accounts : index);
}

void Swarm::add_peers() {
  std::int64_t sybils = 0;
  for (int index = 0; index < options_.peers + options_.liars; ++index) {
    LinkRates rates;
    rates.upload_bytes_per_s = uniform(options_.upload_mbit_min, options_.upload_mbit_max) * 1e6 / 8;
    rates.download_bytes_per_s = rates.upload_bytes_per_s * uniform(1, 5);
    rates.latency = from_seconds(uniform(options_.latency_ms_min, options_.latency_ms_max) / 2000);
    const LinkRates told = rates;
    const int culprits_from = options_.peers - options_.garbage_peers - options_.slow_peers;
    if (index >= culprits_from && index < culprits_from + options_.slow_peers) {
      rates.upload_bytes_per_s /= kSlower;
      rates.download_bytes_per_s /= kSlower;
    }
    const int liar = index - options_.peers;  // its number
    const bool boasts = liar >= 0 && boasts_of_its_line(lie_of(liar), liar);
    if (boasts) rates.upload_bytes_per_s = options_.upload_mbit_min * 1e6 / 8;
    network_.add_peer(rates);
    PeerId id;
    for (std::size_t i = 0; i < id.bytes.size(); ++i) id.bytes[i] = static_cast<std::uint8_t>(rng_());
    const double speed = uniform(options_.samples_per_s_min, options_.samples_per_s_max);
    samples_per_s_ += speed;
    World& world = *this;
    peers_.push_back(std::make_unique<Peer>(world, index, id, speed));
    peers_.back()->set_line(told);
    by_id_[id] = peers_.back().get();
    coordinator_.add_host(id, account_of(index));
    if (liar >= 0) {
      liars_.emplace_back(lie_of(liar), id, options_.poison < 0 ? liar : options_.poison);
      invariants_.distrust(id, boasts);
    }
    // Newcomers trickle in.
    const double within_s = index < kFirst ? kFirstComeS : options_.newcomers_trickle_s;
    const double from_s = liar < 0 ? uniform(0, within_s) : comes_at_s(lie_of(liar), kFirstComeS);
    // The account has as many computers as it may have: this one is not let in.
    if (liar >= 0 && account_of(index) == kSybilAccount && ++sybils > accounts::kHostsPerAccount) continue;
    const bool of_crowd = liar >= 0 && lie_of(liar) == Lie::crowd;
    scheduler_.after(from_seconds(from_s), [this, of_crowd, peer = peers_.back().get()] {
      of_crowd ? join_established(*peer) : peer->start();
    });
  }
}

// While hardly anybody has had work confirmed, newcomers decide among themselves (docs/trust.md).
void Swarm::join_established(Peer& peer) {
  if (coordinator_.established_accounts() >= core::kEstablishedEnough) return peer.start();
  scheduler_.after(kCrowdLooks, [this, &peer] { join_established(peer); });
}

void Swarm::take_checkpoint(const Peer& from, RoundIndex round, const Digest& digest) {
  if (coordinator_.up()) coordinator_.on_checkpoint(from.id(), {round, digest, {digest, 1}}, from.state());
}

// A coordinator that lies does so to a quarter of the members at a time, for some seconds.
bool Swarm::is_lied_to(const PeerId& peer) const {
  if (!options_.coordinator_lies || scheduler_.now() >= TimePoint() + options_.length) return false;
  constexpr double kLieS = 4;
  const auto turn = static_cast<std::uint64_t>(to_seconds(scheduler_.now().time_since_epoch()) / kLieS);
  return mix64(options_.seed ^ turn << 8 ^ peer.bytes[0]) % 4 == 0;
}

// The reply says that the swarm is a round further on, and has a state that nobody has made.
void Swarm::invent_state(wire::HeartbeatReply& reply) const {
  if (reply.state_digest.is_zero()) return;
  ++reply.round;
  reply.state_digest = invented_state(static_cast<std::uint64_t>(reply.round));
  reply.group.reset();
  reply.donors = {{peers_.front()->id(), "192.0.2.1", 1000}};
}

void Swarm::deliver_heartbeat(Peer& from, const wire::Heartbeat& truth) {
  wire::Heartbeat heartbeat = lies(from) ? liar_of(from).tell(truth) : truth;
  if (from.index() < options_.colluders) blame(heartbeat.reports, peer(options_.colluders).id());
  for (wire::RoundReport& report : heartbeat.reports) {
    report.signature = sign(from.id(), wire::signed_text(heartbeat.run_id, wire::signed_result(report)));
  }
  Duration way = network_.rates(from.index()).latency + std::chrono::milliseconds(5);
  if (uniform(0, 1) < options_.calls_delayed) way += from_seconds(uniform(0.2, 1.5));
  const auto reply_to = [this, peer = &from, life = from.incarnation()](const Result<wire::HeartbeatReply>& reply,
                                                                        Duration later) {
    scheduler_.after(later, [peer, life, reply] {
      if (peer->up() && peer->incarnation() == life) peer->on_reply(reply);
    });
  };
  const bool request_lost = uniform(0, 1) < options_.calls_lost;
  const bool reply_lost = uniform(0, 1) < options_.calls_lost;
  if (request_lost || reply_lost) {
    log_debug("{:.3f} a call of peer {} is lost", to_seconds(scheduler_.now().time_since_epoch()), from.index());
    lost_call_at_[&from] = scheduler_.now();
  }
  scheduler_.after(way, [this, way, request_lost, reply_lost, reply_to, id = from.id(), heartbeat] {
    const Error nothing{ErrorCode::unavailable, "no answer from the coordinator"};
    if (!coordinator_.up()) {
      reply_to(nothing, way);
    } else if (request_lost) {
      reply_to(nothing, kHeartbeatDeadline);
    } else {
      wire::HeartbeatReply reply = coordinator_.on_heartbeat(id, heartbeat);
      if (const Peer* peer = find(id); lies(*peer)) reply = liar_of(*peer).hear(reply);
      if (is_lied_to(id)) invent_state(reply);
      if (!reply.notice.empty()) log_debug("coordinator to {}: {}", id.brief(), reply.notice);
      if (reply_lost) return reply_to(nothing, kHeartbeatDeadline);
      reply_to(reply, way);
    }
  });
}

void Swarm::deliver_unusable(const Peer& from, const wire::UnusableSamples& samples) {
  if (uniform(0, 1) < options_.calls_lost) return;
  const Duration way = network_.rates(from.index()).latency + std::chrono::milliseconds(5);
  scheduler_.after(way, [this, id = from.id(), samples] {
    if (coordinator_.up()) coordinator_.on_unusable(id, samples);
  });
}

void Swarm::on_round_recorded(const Peer& peer, const wire::RoundReport& report) {
  SampleCount samples = 0;
  for (const wire::Contribution& contribution : report.contributions) samples += contribution.samples;
  note_round(report.round);
  log_debug("{:.3f} peer {} finished round {} of group {} with {} of {} members{}: {} samples, result {}, state {}",
            to_seconds(scheduler_.now().time_since_epoch()), peer.index(), report.round, report.group.brief(),
            report.contributions.size(), report.members.size(), report.autonomous ? ", on their own" : "", samples,
            report.result_digest.brief(), report.state_digest.brief());
  invariants_.on_report(report);
}

void Swarm::on_reports_forgotten(const Peer& peer, RoundIndex below) {
  if (lies(peer)) return;  // its replies follow its own lies
  // A coordinator that lies may take reports and not count them. Its last lies are still on the way.
  if (options_.coordinator_lies && scheduler_.now() < TimePoint() + options_.length + std::chrono::seconds(5)) return;
  for (const wire::RoundReport& report : peer.pending_reports()) {
    if (report.round < below) invariants_.on_forgotten(coordinator_.store(), report);
  }
}

void Swarm::on_reports_withdrawn(const Peer& peer, RoundIndex from) {
  for (const wire::RoundReport& report : peer.pending_reports()) {
    if (report.round < from) continue;
    ++result_.results_void;
    for (const wire::Contribution& contribution : report.contributions) {
      if (contribution.peer != peer.id() || lies(peer) || !honest_decide(report.group)) continue;
      result_.honest_samples_lost += contribution.samples;
    }
    log_debug("{:.3f} peer {} returns from round {}: group {} came to no decision",
              to_seconds(scheduler_.now().time_since_epoch()), peer.index(), report.round, report.group.brief());
    if (!lies(peer)) invariants_.on_withdrawn(coordinator_.store(), report);
  }
}

// No frame of an honest member may strike another as nonsense.
void Swarm::on_frame_taken(const Peer& peer, const Peer& from, const Status& status) {
  if (!status.ok() && !from.sends_garbage() && !lies(from))
    invariants_.fail(fmt::format("peer {} refused a frame: {}", peer.index(), status.error().message));
}

void Swarm::on_leg_begun(const Peer& peer, const rounds::Leg& leg) {
  const rounds::RoundPayload::Own own = peer.payload().own();
  const std::span<const float> sum = leg.vectors.weight > 0 ? own.sum : std::span<const float>();
  const std::string wrong = invariants_.feedback().on_contributed(peer.id(), leg.group, sum, leg.vectors.input);
  if (!wrong.empty()) invariants_.fail(fmt::format("round {}: {}", leg.group.round, wrong));
  if (options_.byzantine == to_string(Lie::overclaimer)) invariants_.on_planned(leg.group);
}

void Swarm::on_averaging_ended(const Peer& peer, Duration took, const averaging::AveragingOutcome& outcome) {
  using Verdict = averaging::AveragingOutcome::Verdict;
  log_outcome(scheduler_.now(), peer.index(), took, outcome);
  result_.averaging_s_max = std::max(result_.averaging_s_max, to_seconds(took));
  if (took > kAveragingMax) {
    invariants_.fail(fmt::format("peer {} waited {:.1f} s in one averaging", peer.index(), to_seconds(took)));
  }
  if (outcome.verdict == Verdict::diverged && !lies(peer)) {
    invariants_.fail(fmt::format("peer {} was left with a result that differs from its group's", peer.index()));
  }
  const std::pair round{&peer, peer.view().state_round};
  expelled_.erase(round);
  if (outcome.verdict == Verdict::averaged) {
    invariants_.feedback().on_averaged(peer.id(), peer.plan(), outcome, peer.payload().average());
  }
  if (outcome.verdict != Verdict::expelled) return;
  ++result_.rounds_lost;
  if (!lies(peer) && !lost_a_call(peer)) expelled_[round] = peer.brought();
}

// True if the peer has heard nothing from the coordinator until a moment ago: it comes too late to its group, and would
// without liars.
bool Swarm::lost_a_call(const Peer& peer) const {
  const auto lost = lost_call_at_.find(&peer);
  return lost != lost_call_at_.end() && scheduler_.now() < lost->second + kHeartbeatDeadline + kRecoveredWithin;
}

// True if most of the accounts that decide by this group do not lie. Others can leave its round undecided, whatever is
// done about it (docs/trust.md): the first group's, if half of those who have come by then lie.
bool Swarm::honest_decide(const GroupId& id) const {
  const std::vector<core::SeatedGroup>& groups = coordinator_.store().groups;
  const auto group =
      std::find_if(groups.begin(), groups.end(), [&](const core::SeatedGroup& one) { return one.id == id; });
  if (group == groups.end()) return true;
  std::set<AccountId> honest;
  std::set<AccountId> all;
  for (const core::Seat& seat : group->seats()) {
    if (seat.role == wire::MemberRole::late || !seat.voice) continue;
    all.insert(seat.account);
    if (!lies(*by_id_.at(seat.peer))) honest.insert(seat.account);
  }
  return 2 * honest.size() > all.size();
}

void Swarm::on_mixed(const Peer& peer, const wire::GroupInfo& group, const averaging::AveragingOutcome& outcome) {
  ++(outcome.weight_total > 1 ? result_.gossips : result_.gossips_alone);
  log_debug("{:.3f} peer {} mixed in {} with {} of {}, verdict {}", to_seconds(scheduler_.now().time_since_epoch()),
            peer.index(), group.id.brief(), outcome.weight_total, group.members.size(),
            static_cast<int>(outcome.verdict));
  invariants_.on_mixed(group, outcome);
}

void Swarm::on_consensus_distance(const Peer& peer, double consensus_distance) {
  log_debug("{:.3f} peer {} was {:.4f} from the average", to_seconds(scheduler_.now().time_since_epoch()), peer.index(),
            consensus_distance);
  double& most = kills_begun() ? result_.consensus_distance_most : result_.consensus_distance_usual;
  most = std::max(most, consensus_distance);
  if (kills_begun()) consensus_distances_.push_back(consensus_distance);
  if (manifest_.round.error_feedback > 0 ? !std::isfinite(consensus_distance)
                                         : !(consensus_distance <= kConsensusDistanceMax)) {
    invariants_.fail(
        fmt::format("peer {} was {:.3g} from the average at a round's end", peer.index(), consensus_distance));
  }
}

void Swarm::on_batch_done(const Peer&, Duration after) {
  if (scheduler_.now() >= TimePoint() + options_.length) return;
  double& longest = kills_begun() ? result_.idle_s_longest : result_.idle_s_usual;
  longest = std::max(longest, to_seconds(after));
}

void Swarm::plan_faults() {
  if (options_.seconds_between_faults <= 0) return;
  std::exponential_distribution<double> gap(1 / options_.seconds_between_faults);
  const TimePoint end = TimePoint() + options_.length;
  for (TimePoint when = TimePoint() + from_seconds(gap(rng_)); when < end; when += from_seconds(gap(rng_))) {
    scheduler_.at(when, [this] { fault(); });
  }
}

// Plans times at which a computer does something else.
void Swarm::plan_hiccups() {
  if (options_.seconds_between_hiccups <= 0) return;
  std::exponential_distribution<double> gap(1 / options_.seconds_between_hiccups);
  const TimePoint end = TimePoint() + options_.length;
  for (const auto& peer : peers_) {
    for (TimePoint when = TimePoint() + from_seconds(gap(rng_)); when < end; when += from_seconds(gap(rng_))) {
      const Duration length = from_seconds(uniform(0, options_.hiccup_s_max));
      scheduler_.at(when, [this, peer = peer.get(), length] { peer->freeze_until(scheduler_.now() + length); });
    }
  }
}

void Swarm::plan_kills() {
  if (options_.seconds_between_kills <= 0) return;
  const TimePoint end = TimePoint() + options_.length;
  for (TimePoint when = kills_begin(); when < end; when += from_seconds(options_.seconds_between_kills)) {
    scheduler_.at(when, [this] {
      Peer& peer = random_peer();
      if (!peer.up()) return;
      crash_peer(peer, options_.kills_reset, from_seconds(uniform(kDownSecondsMin, kDownSecondsMax)));
    });
  }
}

void Swarm::note_round(RoundIndex round) {
  if (options_.seconds_between_kills <= 0 || round <= newest_round_) return;
  const TimePoint now = scheduler_.now();
  const double took_s = to_seconds(now - newest_round_at_);
  if (now < kills_begin()) {
    if (newest_round_ >= 0) calm_rounds_s_.push_back(took_s);
  } else if (now < TimePoint() + options_.length) {
    result_.round_s_longest = std::max(result_.round_s_longest, took_s);
  }
  newest_round_ = round;
  newest_round_at_ = now;
}

void Swarm::crash_peer(Peer& peer, bool reset, Duration down) {
  ++result_.crashes;
  peer.crash();
  invariants_.feedback().on_lost(peer.id());
  if (reset) {
    for (const auto& other : peers_) {
      if (!other->up()) continue;
      scheduler_.after(network_.path(peer.index(), other->index()),
                       [to = other.get(), life = other->incarnation(), from = peer.index()] {
                         if (to->up() && to->incarnation() == life) to->on_link_lost(from);
                       });
    }
  }
  scheduler_.after(down, [&peer] { peer.start(); });
}

void Swarm::crash_coordinator() {
  if (!coordinator_.up()) return;
  ++result_.coordinator_crashes;
  coordinator_.crash();
  scheduler_.after(from_seconds(uniform(0.5, 15)), [this] {
    coordinator_.start();
    if (!coordinator_.store().rounds.empty()) invariants_.on_coordinator_started();
  });
}

void Swarm::fault() {
  const double kind = uniform(0, 1);
  Peer& peer = random_peer();
  log_debug("{:.3f} fault {:.2f} at peer {}", to_seconds(scheduler_.now().time_since_epoch()), kind, peer.index());
  if (kind < 0.5) {
    if (!peer.up()) return;
    // A killed process's system resets its links; a machine without power says nothing.
    const bool reset = uniform(0, 1) < 0.7;
    crash_peer(peer, reset, from_seconds(uniform(0.1, 10)));
  } else if (kind < 0.7) {
    ++result_.freezes;
    peer.freeze_until(scheduler_.now() + from_seconds(uniform(0.2, 12)));
  } else if (kind < 0.85 && peers_.size() > 1) {
    Peer& other = random_peer();
    if (&other == &peer) return;
    ++result_.partitions;
    network_.cut_until(peer.index(), other.index(), scheduler_.now() + from_seconds(uniform(0.5, 12)));
  } else if (options_.coordinator_faults) {
    crash_coordinator();
  }
}

double Swarm::filled(const core::RoundDecided& round) const {
  SampleCount samples = 0;
  for (const core::CreditedContribution& row : round.contributions) samples += row.samples;
  return static_cast<double>(samples) / static_cast<double>(options_.target_batch_size);
}

void Swarm::log_where_everybody_is() {
  std::string line = fmt::format("{:.0f} ledger {}{}", to_seconds(scheduler_.now().time_since_epoch()),
                                 coordinator_.store().rounds.size(), coordinator_.up() ? "" : " (down)");
  for (const auto& peer : peers_) {
    if (!peer->up()) continue;
    const session::Session::View view = peer->view();
    line += fmt::format(" | {}: {} {}{} {}", peer->index(), to_string(view.activity.phase), view.state_round,
                        view.synced ? "" : "?", view.samples_this_round);
  }
  log_debug("{}", line);
}

// A member may be out for a round at any single moment; it must not be out all the time.
void Swarm::note_who_is_well() {
  for (const auto& peer : peers_)
    if (peer->up() && peer->view().synced) well_.insert(peer.get());
}

void Swarm::note_who_is_in_step() {
  looks_ += std::ssize(peers_);
  for (const auto& peer : peers_) looks_in_step_ += peer->up() && peer->view().synced ? 1 : 0;
}

// Others that say they have the state, and have none, do not keep a newcomer from it.
void Swarm::note_who_lacks_the_state() {
  if (options_.byzantine != to_string(Lie::garbage_state)) return;
  const TimePoint now = scheduler_.now();
  for (const auto& peer : peers_) {
    if (lies(*peer) || !peer->up()) continue;
    TimePoint& since = without_state_since_.try_emplace(peer.get(), now).first->second;
    if (peer->view().synced) since = now;
    if (now - since > kWithoutStateMax) {
      invariants_.fail(fmt::format("peer {} has no state: {}", peer->index(), peer->view().activity.reason));
    }
  }
}

void Swarm::note_seat(const core::SeatChanged& change) {
  const auto round = static_cast<RoundIndex>(coordinator_.store().rounds.size());
  if (change.sits_out) first_out_.try_emplace(change.peer, round);
}

// A member that proves falsely that it holds the state sits out in time, and honest members never do.
void Swarm::check_seats() {
  if (options_.byzantine != to_string(Lie::garbage_state)) return;
  for (const auto& peer : peers_) {
    const auto out = first_out_.find(peer->id());
    if (!lies(*peer)) {
      if (out != first_out_.end()) invariants_.fail(fmt::format("peer {} sat out", peer->index()));
    } else if (liar_of(*peer).proves_falsely() && (out == first_out_.end() || out->second > kSitsOutWithin)) {
      invariants_.fail(fmt::format("peer {} has proven falsely that it holds the state, and goes on", peer->index()));
    }
  }
}

void Swarm::check_well(RoundIndex rounds_before_calm) {
  if (!coordinator_.up()) return invariants_.fail("the coordinator did not come back");
  const auto rounds = static_cast<RoundIndex>(coordinator_.store().rounds.size());
  if (rounds < rounds_before_calm + 2) invariants_.fail("no rounds were finished in calm weather");
  for (const auto& peer : peers_) {
    if (lies(*peer) || peer->index() < options_.colluders) continue;
    if (!peer->up()) return invariants_.fail(fmt::format("peer {} did not come back", peer->index()));
    const session::Session::View view = peer->view();
    const bool culprit = peer->index() >= options_.peers - options_.garbage_peers - options_.slow_peers;
    if (!culprit && !well_.contains(peer.get())) {
      invariants_.fail(fmt::format("peer {} is still {}: {}", peer->index(), session::to_string(view.activity.phase),
                                   view.activity.reason));
    }
    if (view.reports_waiting > 8)
      invariants_.fail(fmt::format("peer {} holds {} reports", peer->index(), view.reports_waiting));
  }
}

void Swarm::watch_coordinator() {
  coordinator_.on_durable = [this](const core::RoundDecided& round) {
    invariants_.on_durable(round);
    if (scheduler_.now() < TimePoint() + options_.length) {
      (kills_begun() ? credited_with_kills_ : credited_usually_).add(scheduler_.now(), round);
      if (scheduler_.now() >= kills_begin()) filled_.push_back(filled(round));
    }
  };
  coordinator_.on_adopted = [this](const core::StateAdopted& adopted) { invariants_.on_adopted(adopted); };
  coordinator_.on_evaluated = [this](const core::EvaluationStored& figure) { invariants_.on_evaluated(figure); };
  coordinator_.on_seat_changed = [this](const core::SeatChanged& change) { note_seat(change); };
  coordinator_.on_audited = [this](const core::StoreOp& op, const PeerId& peer) {
    cheats_.on_stored(op, find(peer) == nullptr || lies(*find(peer)), std::ssize(coordinator_.store().rounds));
  };
  coordinator_.on_banned = [this](const PeerId& peer) {
    if (Peer* banned = find(peer); banned != nullptr && banned->up()) banned->crash();
  };
  coordinator_.on_set_aside = [this](const SampleSetAside& sample) { invariants_.on_set_aside(sample); };
}

SwarmResult Swarm::run(const std::function<void(double)>& on_progress) {
  watch_coordinator();
  coordinator_.start();
  add_peers();
  plan_faults();
  plan_hiccups();
  plan_kills();
  result_.distance_first = kStart;
  // Time for a few rounds at the swarm's own speed, whatever that is.
  const Duration calm =
      options_.calm + from_seconds(4 * static_cast<double>(options_.target_batch_size) / samples_per_s_);
  const double all_s = to_seconds(options_.length + calm);
  const auto go = [&](Duration length) {
    const TimePoint end = scheduler_.now() + length;
    while (scheduler_.now() < end && invariants_.broken().empty()) {
      scheduler_.run_until(std::min(end, scheduler_.now() + std::chrono::milliseconds(250)));
      if (on_progress) on_progress(to_seconds(scheduler_.now().time_since_epoch()) / all_s);
      note_who_is_in_step();
      note_who_lacks_the_state();
      if (end - scheduler_.now() < kWellWithin) note_who_is_well();
      if (to_ms(scheduler_.now().time_since_epoch()) % 1000 == 0) log_where_everybody_is();
      if (scheduler_.events_waiting() > kEventsWaitingMax) invariants_.fail("events pile up without end");
    }
  };
  go(options_.length);
  well_.clear();
  const auto rounds_before_calm = static_cast<RoundIndex>(coordinator_.store().rounds.size());
  go(calm);
  if (invariants_.broken().empty()) check_well(rounds_before_calm);
  if (invariants_.broken().empty()) check_seats();
  if (options_.epoch_samples > 0) {
    result_.epochs_complete = invariants_.check_epochs(options_.epoch_samples);
    result_.samples_counted = invariants_.counted();
    result_.samples_set_aside = invariants_.set_aside();
  }
  for (const auto& [round, samples] : expelled_) result_.honest_samples_lost += samples;
  result_.broken = invariants_.broken();
  result_.feedbacks_checked = invariants_.feedback().checked();
  for (const auto& [round, decided] : coordinator_.store().rounds) {
    for (const core::CreditedContribution& row : decided.contributions) {
      result_.samples_ledger += row.samples;
      const Peer* const peer = find(row.peer);
      if (peer != nullptr && !lies(*peer)) result_.honest_samples += row.samples;
      if (round >= rounds_before_calm) result_.samples_per_s_calm += static_cast<double>(row.samples);
    }
  }
  result_.samples_per_s_calm /= to_seconds(calm);
  result_.samples_per_s_usual = credited_usually_.samples_per_s();
  result_.samples_per_s_kills = credited_with_kills_.samples_per_s();
  result_.in_step = static_cast<double>(looks_in_step_) / static_cast<double>(std::max<std::int64_t>(1, looks_));
  for (const auto& peer : peers_) result_.downloads += peer->downloads();
  if (!consensus_distances_.empty()) result_.consensus_distance_mean = mean(consensus_distances_);
  if (!filled_.empty()) result_.batch_filled = mean(filled_);
  if (!calm_rounds_s_.empty()) result_.round_s_usual = plot::median(calm_rounds_s_);
  result_.rounds_decided = static_cast<std::int64_t>(coordinator_.store().rounds.size());
  result_.audits = cheats_.tally(result_.rounds_decided - 1);
  result_.distance_last = Learner::distance(peers_.front()->parameters());
  result_.events = scheduler_.events_run();
  result_.virtual_s = to_seconds(scheduler_.now().time_since_epoch());
  return result_;
}

}  // namespace

Result<SwarmResult> run_swarm(const SwarmOptions& options, const std::function<void(double)>& on_progress) {
  const std::string unknown = options.byzantine == "all" ? "" : no_lie_in(options.byzantine);
  if (!options.byzantine.empty() && !unknown.empty()) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("no liars of kind '{}': there are all, {}", unknown, lie_names())};
  }
  STARLING_ASSIGN(wire::RunManifest manifest, manifest_of(options));
  return Swarm(options, std::move(manifest)).run(on_progress);
}

}  // namespace starling::sim
