#include "tests/sim/cell_rounds.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "coordinator/core/cell_book.h"
#include "coordinator/core/heartbeat_decision.h"
#include "shared/base/log.h"
#include "shared/base/permutation.h"
#include "shared/protocol/heartbeat.h"
#include "tests/sim/liar.h"
#include "tests/sim/outcome_log.h"
#include "tests/sim/signatures.h"

namespace starling::sim {
namespace {

constexpr Duration kHeartbeatDeadline = std::chrono::seconds(5);
constexpr Duration kAveragingMax = std::chrono::seconds(120);  // swarm.cpp says why
// Rounds that may be decided while a copy of the state is asked for.
constexpr RoundIndex kCopyTakes = 1;
constexpr SampleCount kClaims = 5;  // a liar's, for each sample that callers have told it

SwarmOptions swarm_options(const CellSwarmOptions& cells, const wire::RunManifest& manifest, wire::CellIndex cell) {
  SwarmOptions options;
  options.seed = mix64(cells.seed ^ mix64(static_cast<std::uint64_t>(cell)));
  options.peers = cells.peers;
  options.target_batch_size = manifest.target_batch_size;
  return options;
}

}  // namespace

CellRounds::CellRounds(CellWorld& world, const Volunteers& volunteers, wire::CellIndex cell)
    : world_(world),
      volunteers_(volunteers),
      cell_(cell),
      manifest_(wire::piece_of(world.run(), cell)),
      options_(swarm_options(world.options(), manifest_, cell)),
      rng_(options_.seed),
      coordinator_(world.scheduler(), options_, manifest_),
      invariants_(options_, manifest_) {
  watch_coordinator();
  last_beats_.resize(volunteers.size());
  for (const auto& volunteer : volunteers) {
    World& own = *this;
    peers_.push_back(std::make_unique<Peer>(own, volunteer->index(), volunteer->id(), 1));
    coordinator_.add_host(volunteer->id(), world.account_of(volunteer->index()));
  }
}

void CellRounds::watch_coordinator() {
  coordinator_.adapt = [this](core::CoordinatorOptions& options) {
    core::adapt_to_cell(world_.options().holders, options);
    options.earning = [this](AccountId account, SampleCount samples) {
      return world_.earning(cell_, account, samples);
    };
  };
  coordinator_.on_timer = [this] { world_.on_holders(cell_); };
  coordinator_.on_durable = [this](const core::RoundDecided& round) { on_durable(round); };
  coordinator_.on_seat_changed = [this](const core::SeatChanged& change) {
    change.sits_out ? void(sit_out_.insert(change.peer)) : void(sit_out_.erase(change.peer));
  };
  coordinator_.on_adopted = [this](const core::StateAdopted& adopted) { on_adopted(adopted); };
}

// Each sample of a caller counts once at most.
void CellRounds::on_durable(const core::RoundDecided& round) {
  invariants_.on_durable(round);
  for (const core::CreditedContribution& line : round.contributions) counted_ += line.samples;
  ++world_.result().rounds;
  if (counted_ <= world_.checks().told(cell_) || world_.options().liars > 0) return;
  invariants_.fail(fmt::format("{} samples count, and callers have told of {}", counted_, world_.checks().told(cell_)));
}

void CellRounds::on_adopted(const core::StateAdopted& adopted) {
  invariants_.on_adopted(adopted);
  ++world_.result().adoptions;
  const RoundIndex lost = rounds() - adopted.reported_round;
  log_debug("{:.3f} cell {} goes on from round {}, after {}", to_seconds(scheduler().now().time_since_epoch()), cell_,
            adopted.reported_round, rounds());
  world_.result().rounds_lost_most = std::max(world_.result().rounds_lost_most, lost);
  if (world_.options().holders > 1 || lost <= manifest_.checkpoint_rounds + kCopyTakes + uncopied_) return;
  invariants_.fail(fmt::format("a sole holder's end has cost {} rounds", lost));
}

void CellRounds::begin(int volunteer) {
  log_debug("{:.3f} cell {}: volunteer {} holds it", to_seconds(scheduler().now().time_since_epoch()), cell_,
            volunteer);
  member(volunteer).start();
  if (volunteers_[static_cast<std::size_t>(volunteer)]->paused()) member(volunteer).pause(true);
}

// CellRun::farewell().
void CellRounds::farewell(int volunteer) {
  wire::Heartbeat last = last_beats_[static_cast<std::size_t>(volunteer)];
  if (!has(volunteer) || last.run_id.empty()) return;
  last.phase = wire::MemberPhase::leaving;
  last.trust.holding.reset();
  deliver_heartbeat(member(volunteer), last);
}

void CellRounds::end(int volunteer, bool keep, bool reset) {
  Peer& gone = member(volunteer);
  if (gone.up()) {
    log_debug("{:.3f} cell {}: volunteer {} holds it no more", to_seconds(scheduler().now().time_since_epoch()), cell_,
              volunteer);
    gone.crash();
    for (const auto& other : peers_) {
      if (!reset || !other->up()) continue;
      scheduler().after(network().path(volunteer, other->index()),
                        [to = other.get(), life = other->incarnation(), volunteer] {
                          if (to->up() && to->incarnation() == life) to->on_link_lost(volunteer);
                        });
    }
  }
  if (!keep) gone.forget_disk();
  last_beats_[static_cast<std::size_t>(volunteer)] = {};
}

void CellRounds::pause(int volunteer, bool paused) {
  if (has(volunteer)) member(volunteer).pause(paused);
}

void CellRounds::on_gradients(int volunteer) {
  if (has(volunteer)) member(volunteer).on_gradients();
}

void CellRounds::gather(const Peer& peer, const Gathered& done) {
  const Gathered claimed = [done](SampleCount samples, std::span<const float> sum) { done(kClaims * samples, sum); };
  volunteers_[static_cast<std::size_t>(peer.index())]->gather(cell_, world_.is_liar(peer.index()) ? claimed : done);
}

void CellRounds::on_session_event(Peer& peer) {
  const session::Session::View view = peer.view();
  const std::optional<RoundIndex> serves = view.synced ? std::optional(view.state_round) : std::nullopt;
  volunteers_[static_cast<std::size_t>(peer.index())]->serve_cell(cell_, serves);
}

Donation CellRounds::donation_of(const Peer& /*donor*/) { return Donation::truth; }

void CellRounds::take_checkpoint(const Peer& from, RoundIndex round, const Digest& digest) {
  log_debug("{:.3f} cell {}: volunteer {} sends a copy of round {}", to_seconds(scheduler().now().time_since_epoch()),
            cell_, from.index(), round);
  if (!coordinator_.up()) return;
  coordinator_.on_checkpoint(from.id(), {round, digest, {digest, 1}}, from.state());
  uncopied_ = 0;
}

void CellRounds::deliver_heartbeat(Peer& from, const wire::Heartbeat& truth) {
  wire::Heartbeat heartbeat = last_beats_[static_cast<std::size_t>(from.index())] = truth;
  for (wire::RoundReport& report : heartbeat.reports) {
    report.signature = sign(from.id(), wire::signed_text(heartbeat.run_id, wire::signed_result(report)));
  }
  Duration way = network().rates(from.index()).latency + std::chrono::milliseconds(5);
  if (uniform(0, 1) < world_.options().calls_delayed) way += from_seconds(uniform(0.2, 1.5));
  const bool request_lost = uniform(0, 1) < world_.options().calls_lost;
  const bool reply_lost = uniform(0, 1) < world_.options().calls_lost;
  const auto reply_to = [this, peer = &from, life = from.incarnation()](const Result<wire::HeartbeatReply>& reply,
                                                                        Duration later) {
    scheduler().after(later, [peer, life, reply] {
      if (peer->up() && peer->incarnation() == life) peer->on_reply(reply);
    });
  };
  scheduler().after(way, [this, way, request_lost, reply_lost, reply_to, id = from.id(), heartbeat] {
    const Error nothing{ErrorCode::unavailable, "no answer from the coordinator"};
    if (!coordinator_.up()) return reply_to(nothing, way);
    if (request_lost) return reply_to(nothing, kHeartbeatDeadline);
    const wire::HeartbeatReply reply = coordinator_.on_heartbeat(id, heartbeat);
    if (reply.send_checkpoint) {
      log_debug("{:.3f} cell {}: a member is asked for a copy of round {}",
                to_seconds(scheduler().now().time_since_epoch()), cell_, reply.round);
    }
    world_.on_holders(cell_);
    reply_lost ? reply_to(nothing, kHeartbeatDeadline) : reply_to(reply, way);
  });
}

void CellRounds::on_round_recorded(const Peer& peer, const wire::RoundReport& report) {
  log_debug("{:.3f} cell {}: volunteer {} finished round {} with {} of {} members",
            to_seconds(scheduler().now().time_since_epoch()), cell_, peer.index(), report.round,
            report.contributions.size(), report.members.size());
  invariants_.on_report(report);
  wire::Heartbeat& last = last_beats_[static_cast<std::size_t>(peer.index())];
  last.reports.push_back(report);
  last.state_round = report.round + 1;
  last.state_digest = report.state_digest;
  if (report.autonomous) ++uncopied_;
}

void CellRounds::on_reports_forgotten(const Peer& peer, RoundIndex below) {
  for (const wire::RoundReport& report : peer.pending_reports()) {
    if (report.round < below) invariants_.on_forgotten(coordinator_.store(), report);
  }
}

void CellRounds::on_reports_withdrawn(const Peer& peer, RoundIndex from) {
  for (const wire::RoundReport& report : peer.pending_reports()) {
    if (report.round >= from) invariants_.on_withdrawn(coordinator_.store(), report);
  }
}

void CellRounds::on_frame_taken(const Peer& peer, const Peer& /*from*/, const Status& status) {
  if (status.ok()) return;
  invariants_.fail(fmt::format("volunteer {} refused a frame: {}", peer.index(), status.error().message));
}

void CellRounds::on_gradient_brought(const Peer& peer, const wire::GroupInfo& group,
                                     const averaging::ContributionTerms& terms,
                                     const std::vector<std::pair<std::int64_t, std::int64_t>>& samples) {
  invariants_.on_plan(group);
  invariants_.on_gradient(peer.id(), group.grid ? group.grid->id : group.id, terms, samples);
}

void CellRounds::on_leg_begun(const Peer& peer, const rounds::Leg& leg) {
  const rounds::RoundPayload::Own own = peer.payload().own();
  const std::span<const float> sum = leg.vectors.weight > 0 ? own.sum : std::span<const float>();
  const std::string wrong = invariants_.feedback().on_contributed(peer.id(), leg.group, sum, leg.vectors.input);
  if (!wrong.empty()) invariants_.fail(fmt::format("round {}: {}", leg.group.round, wrong));
}

void CellRounds::on_averaging_ended(const Peer& peer, Duration took, const averaging::AveragingOutcome& outcome) {
  log_outcome(scheduler().now(), peer.index(), took, outcome);
  if (took > kAveragingMax) {
    invariants_.fail(fmt::format("volunteer {} waited {:.1f} s in one averaging", peer.index(), to_seconds(took)));
  }
  if (outcome.verdict == averaging::AveragingOutcome::Verdict::diverged) {
    invariants_.fail(fmt::format("volunteer {} was left with a result that differs from its group's", peer.index()));
  }
}

std::string CellRounds::broken() const {
  return invariants_.broken().empty() ? std::string() : fmt::format("cell {}: {}", cell_, invariants_.broken());
}

void CellRounds::check_equal() {
  const Peer* one = nullptr;
  for (const auto& other : peers_) {
    if (!other->up() || !other->view().synced) continue;
    if (one == nullptr) one = other.get();
    const bool same_round = one->view().state_round == other->view().state_round;
    const bool same_bits = std::equal(one->state().begin(), one->state().end(), other->state().begin());
    if (same_round && !same_bits) invariants_.fail("two holders have different states of one round");
  }
}

}  // namespace starling::sim
