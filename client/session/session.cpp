#include "client/session/session.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "client/session/failure_text.h"
#include "shared/base/log.h"
#include "shared/protocol/heartbeat.h"
#include "shared/protocol/heartbeat_reply.h"
#include "shared/state/audit_number.h"
#include "shared/swarm/witnesses.h"

namespace starling::session {
namespace {

constexpr Duration kPauseWaitsFor = std::chrono::seconds(5);  // a meeting sooner than this is still attended
constexpr Duration kPaceUnknown = std::chrono::seconds(1);
constexpr Duration kPaceMax = std::chrono::hours(1);

// Returns a member's complaints about a round.
std::vector<wire::Complaint> complaints_of(const wire::GroupInfo& group, const averaging::AveragingOutcome& outcome) {
  std::vector<wire::Complaint> complaints;
  for (const averaging::SeenFault& seen : outcome.faults) {
    if (complaints.size() == wire::kComplaintsMax) break;
    complaints.push_back({group.members[seen.rank].endpoint.peer, seen.fault});
  }
  return complaints;
}

// Names the owner of a part that it sealed twice, in this group or, in a grid, in one of its groups.
wire::SealedTwice sealed_twice(const wire::GroupInfo& group, const wire::OwnerProof& proof) {
  const std::uint32_t rank = proof.one.rank;
  const bool among_heads = group.grid && proof.one.group == group.grid->heads_id;
  const wire::GroupMember& owner = among_heads ? group.grid->heads[rank].member : group.members[rank];
  wire::SealedTwice lie = wire::sealed_twice(owner.endpoint.peer, proof);
  if (group.grid) lie.group = proof.one.group;
  return lie;
}

// Tells of a round without a result, or of lies.
std::optional<wire::RoundTrouble> trouble_of(const wire::GroupInfo& group, const averaging::AveragingOutcome& outcome) {
  wire::RoundTrouble trouble;
  trouble.round = group.round;
  trouble.group = group.grid ? group.grid->id : group.id;
  const bool finished = outcome.verdict == averaging::AveragingOutcome::Verdict::averaged;
  if (!finished) trouble.complaints = complaints_of(group, outcome);
  for (const wire::OwnerProof& proof : outcome.proofs) {
    if (trouble.proofs.size() == wire::kProofsPerTroubleMax) break;
    trouble.proofs.push_back(sealed_twice(group, proof));
  }
  for (const averaging::Accusation& heard : outcome.accusations) {
    if (trouble.accusations.size() == wire::kAccusationsMax) break;
    trouble.accusations.push_back(
        {group.members[heard.accuser].endpoint.peer, group.members[heard.accused].endpoint.peer});
  }
  const bool any = !trouble.complaints.empty() || !trouble.proofs.empty() || !trouble.accusations.empty();
  return any ? std::optional(std::move(trouble)) : std::nullopt;
}

// Answers the last reply's challenge, if there is one; nothing if the state is not at hand.
std::optional<wire::HoldingProof> proof_of(Session::Mediator& mediator, const wire::HeartbeatReply* last,
                                           const Digest& held) {
  if (last == nullptr || last->kept.challenge.is_zero() || held.is_zero()) return std::nullopt;
  const std::optional<Digest> digest = mediator.prove_state(last->kept.challenge, held);
  return digest ? std::optional(wire::HoldingProof{last->kept.challenge, *digest}) : std::nullopt;
}

// Returns what is known about the members of the report that this one tells about.
std::vector<wire::ReceivedRate> received_from(const wire::RoundReport& report, const PeerId& self,
                                              std::span<const Session::Received> known) {
  std::vector<wire::ReceivedRate> received;
  const std::vector<PeerId>& members = report.members;
  const auto own = static_cast<std::size_t>(std::find(members.begin(), members.end(), self) - members.begin());
  if (own == members.size()) return received;
  for (const std::size_t place : swarm::told_about(report.group, own, members.size())) {
    const auto figure = std::find_if(known.begin(), known.end(),
                                     [&](const Session::Received& one) { return one.peer == members[place]; });
    if (figure == known.end()) continue;
    const double whole = std::floor(std::min(figure->bytes_per_s, wire::kMessageRateMax));  // short in a report
    received.push_back({static_cast<std::int64_t>(place), whole});
  }
  return received;
}

// The swarm's pace stays when nobody counts samples. A round that waited for a member is no measure of it.
Duration round_pace(const wire::SwarmFigures& swarm, double own_samples_per_s) {
  const double samples_per_s = std::max(swarm.samples_per_s, own_samples_per_s);
  if (samples_per_s <= 0) return kPaceUnknown;
  return from_seconds(std::min(static_cast<double>(swarm.target_batch_size) / samples_per_s, to_seconds(kPaceMax)));
}

// Keeps the state before the last step, if an audit is about it, and forgets those that no audit is about any more.
void keep_audited(Audits& audits, const Replica& replica, Session::Mediator& mediator) {
  for (const RoundIndex round : audits.forget_unwanted()) mediator.forget_audited_state(round);
  const RoundIndex last = replica.round() - 1;
  if (replica.synced() && audits.wants(last) && mediator.keep_audited_state(last)) audits.on_kept(last);
  if (replica.synced()) audits.refuse_unkept(replica.round());
}

// Sketches this member's contribution to the last round, if the coordinator asks for it with the number of its plan.
void sketch_own(Audits& audits, const RoundCycle::LastRound* last, Session::Mediator& mediator) {
  const auto& request = audits.asked_for();
  if (audits.has_own() || !request || last == nullptr || last->group.round != request->round) return;
  if (state::audit_commitment(request->number) != last->group.audit_commitment) return;
  auto own = mediator.own_sketches(request->round, state::audit_seed(request->number, last->result_digest));
  if (own) audits.on_own(*std::move(own));
}

// The terms of a contribution that is made of this many samples.
wire::OwnTerms terms_of(const Meeting& meeting, SampleCount computed) {
  const SampleCount most = meeting.group.members[meeting.self].weight_max;
  return {most > 0 ? std::min(most, computed) : computed, computed};
}

// Reports a round without its number and its loss.
wire::RoundReport report_of(const RoundCycle::Stepping& round, const Digest& new_state) {
  const wire::GroupInfo& group = round.meeting.group;
  const averaging::AveragingOutcome& outcome = round.outcome;
  wire::RoundReport report;
  report.group = group.grid ? group.grid->id : group.id;
  if (group.grid) report.grid = wire::GridShare{group.grid->column, outcome.grid->accepted};
  report.autonomous = group.autonomous;
  for (std::size_t rank = 0; rank < group.members.size(); ++rank) {
    const PeerId& peer = group.members[rank].endpoint.peer;
    report.members.push_back(peer);
    if (outcome.samples[rank] == 0) continue;
    const SampleCount draw = rank < outcome.draws.size() ? outcome.draws[rank] : 0;
    report.contributions.push_back({peer, outcome.samples[rank], draw});
  }
  report.base_digest = group.state_digest;
  report.result_digest = outcome.result_digest;
  report.state_digest = new_state;
  report.averaging_ms = to_ms(outcome.elapsed);
  report.bytes_sent = outcome.bytes_sent;
  report.bytes_received = outcome.bytes_received;
  report.complaints = complaints_of(group, outcome);
  if (!group.audit_commitment.is_zero()) report.measured = outcome.measured;
  return report;
}

}  // namespace

Session::Session(SessionOptions options, InitialState initial, Mediator& mediator)
    : options_(std::move(options)),
      mediator_(mediator),
      link_(options_.seed),
      process_(static_cast<std::int64_t>(mix64(options_.seed) % static_cast<std::uint64_t>(wire::kMessageCountMax)) +
               1),
      replica_({initial.round, initial.digest}, options_.initial_state_digest, options_.trust),
      reports_(initial.unacknowledged) {}

void Session::start(TimePoint now) {
  last_checkpoint_ = now;
  progress_.begin_round(now);
  link_.hurry(now);
  advance(now);
}

void Session::on_timer(TimePoint now) { advance(now); }

TimePoint Session::next_deadline(TimePoint now) const {
  TimePoint deadline = link_.next_call();
  if (!options_.has_state) return deadline;
  if (!computation_.idle() || replica_.fetching()) return deadline;
  const RoundCycle::Stepping* stepping = cycle_.stepping();
  if (cycle_.is_busy() && !options_.delay_parameter_updates) return deadline;
  const auto consider = [&](TimePoint moment) {
    if (moment > now) deadline = std::min(deadline, moment);
  };
  if (cycle_.meeting() != nullptr) consider(cycle_.meeting()->start);
  if (stepping != nullptr && !stepping->under_way) consider(stepping->not_before);
  consider(computation_.not_before());
  consider(replica_.fetch_not_before());
  return deadline;
}

void Session::advance(TimePoint now) {
  if (link_.due(now)) send_heartbeat(now);
  if (!options_.has_state) return;
  const bool delays = options_.delay_parameter_updates;
  const RoundCycle::Stepping* step = cycle_.stepping();
  const bool step_is_due = step != nullptr && !step->under_way && now >= step->not_before;
  if (step_is_due && (computation_.idle() || delays)) {
    cycle_.begin_step();
    mediator_.start_step(replica_.round());
  }
  if (!computation_.idle()) return;
  if (cycle_.is_bound()) {
    if (delays) compute_batch(now);
    if (computation_.idle()) compute_audit(now);
    return;
  }
  if (!pause_.requested) fetch(replica_.begin_fetch(now));
  if (!replica_.fetching()) compute_next(now);
}

bool Session::may_train() const {
  return !pause_.requested && last_reply_ != nullptr && last_reply_->run_state == wire::RunState::running;
}

void Session::compute_next(TimePoint now) {
  if (!replica_.synced()) return;
  if (cycle_.gathers()) plan_without_coordinator(now);
  if (meeting_is_due(now)) {
    begin_averaging(now);
    return;
  }
  // A member that has a place in a plan keeps it: the others count on it.
  const bool may_evaluate = cycle_.gathers() && !pause_.requested && now >= computation_.not_before();
  if (may_evaluate && evaluations_.wanted(replica_.round())) {
    computation_.begin_evaluation();
    link_.hurry(now);
    mediator_.start_evaluation();
    return;
  }
  if (audits_.is_overdue(now)) compute_audit(now);
  if (computation_.idle()) compute_batch(now);
  if (computation_.idle()) compute_audit(now);
}

// Audits fill the moments in which the trainer has nothing else to do: mostly those of averagings.
void Session::compute_audit(TimePoint now) {
  if (now < computation_.not_before() || !may_train()) return;
  const auto piece = audits_.begin_piece(now, options_.micro_batch_size);
  if (!piece) return;
  computation_.begin_audit();
  mediator_.start_audit(*piece);
}

void Session::on_audited(TimePoint now, const Result<std::vector<double>>& sketches) {
  computation_.end_audit();
  audits_.on_piece(now, sketches, !sketches.ok() && pause_.explains(sketches.error()));
  advance(now);
}

void Session::compute_batch(TimePoint now) {
  if (now < computation_.not_before() || !may_train()) return;
  if (progress_.growing() + draws_.passed() + options_.micro_batch_size > options_.samples_max) {
    supply_.lacking = Lacking::room;
    return;
  }
  bool leased = false;
  const std::optional<wire::SampleRange> samples = begin_batch(now, leased);
  supply_.lacking = samples ? Lacking::nothing : Lacking::samples;
  if (!samples) return ask_for_leases(now);
  computation_.begin_batch(now, leased);
  mediator_.start_batch(*samples, progress_.target());
}

// Returns leased samples (and sets the flag), if the gradient has no others.
std::optional<wire::SampleRange> Session::begin_batch(TimePoint now, bool& leased) {
  const wire::SampleRange others =
      progress_.begin_batch(replica_.round(), last_reply_->lane, options_.micro_batch_size);
  const bool first = progress_.target().first;
  leased = options_.leased && (first || draws_.grows());
  if (leased) {
    if (auto samples = draws_.begin_batch(others.round, options_.micro_batch_size)) return samples;
    if (!first || !link_.away(now)) return std::nullopt;
    leased = false;
  }
  return others;
}

// Asks once while the leases held stay unchanged: the coordinator calls back soon when it has more.
void Session::ask_for_leases(TimePoint now) {
  if (!options_.leased || draws_.left(replica_.round()) > options_.micro_batch_size) return;
  if (std::exchange(supply_.asked_for, draws_.end()) != draws_.end()) link_.hurry(now);
}

bool Session::meeting_is_due(TimePoint now) const {
  if (cycle_.meeting() == nullptr) return false;
  // Another batch that would end later than half a batch past the start keeps the others waiting.
  const double patience = may_train() ? 0.5 * progress_.batch_seconds() : 0.0;
  return now + from_seconds(patience) >= cycle_.meeting()->start;
}

void Session::plan_without_coordinator(TimePoint now) {
  if (!link_.away(now) || !may_train()) return;
  std::optional<Meeting> meeting = cycle_.successor(replica_.round(), replica_.digest(), options_.self);
  if (!meeting) return;
  meeting->start = progress_.began() + round_pace(last_reply_->swarm, progress_.samples_per_s());
  cycle_.meet(std::move(*meeting));
}

void Session::begin_averaging(TimePoint now) {
  const Meeting& meeting = cycle_.begin_averaging();
  left_out_ = LeftOut::no;
  const bool contributes = meeting.group.members[meeting.self].role != wire::MemberRole::auxiliary;
  averaging::ContributionTerms terms;
  if (contributes) terms = {progress_.samples(), draws_.first()};
  mediator_.start_averaging(meeting.group, meeting.self, terms);
  link_.hurry(now);
  if (!options_.delay_parameter_updates) return compute_audit(now);
  progress_.look_ahead(now);
  draws_.look_ahead();
  compute_batch(now);
}

void Session::on_batch_done(TimePoint now, const Result<BatchReport>& result) {
  const Computation::Batch batch = computation_.end_batch();
  if (!result.ok()) {
    const Error& error = result.error();
    if (error.code == ErrorCode::unavailable) progress_.forget_batch_seconds();
    if (error.code == ErrorCode::failed_precondition) {
      if (!pause_.requested) computation_.on_lacking(now, error.message);
    } else if (!tries_less(error, batch) && !pause_.explains(error)) {
      const bool passed_over = error.code == ErrorCode::corrupt && error.message.ends_with(kNotFinite);
      passed_over ? computation_.on_not_finite(now, error.message) : computation_.on_failed(now, error.message);
    }
  } else {
    computation_.on_success();
    if (!batch.discarded) take_batch(now, *result, batch);
  }
  advance(now);
}

// A gradient that is not finite will not be finite the second time, but the gradients of some of its samples may be;
// anything else is worth a retry.
bool Session::tries_less(const Error& error, const Computation::Batch& batch) {
  if (error.code != ErrorCode::corrupt || batch.discarded) return false;
  if (batch.leased) return draws_.on_unusable();
  progress_.skip(options_.micro_batch_size);
  return false;
}

void Session::take_batch(TimePoint now, const BatchReport& report, const Computation::Batch& batch) {
  const bool speed_known = progress_.batch_seconds() > 0;
  progress_.on_batch(report, to_seconds(now - batch.began));
  // Until then the coordinator forecasts without this computer, and would call it too late for the first round.
  if (!speed_known && progress_.batch_seconds() > 0) link_.hurry(now);
  totals_.samples += report.samples;
  if (batch.leased) {
    Draws::Passed passed = draws_.on_batch();
    progress_.on_passed(passed.counted);
    // Samples beyond the limit are found again by the members that they are leased to next.
    if (passed.draws.size() > wire::kUnusableDrawsMax) passed.draws.resize(wire::kUnusableDrawsMax);
    if (!passed.draws.empty()) mediator_.report_unusable({options_.run_id, process_, std::move(passed.draws)});
  }
  ask_for_leases(now);
}

void Session::retry_now(TimePoint now) {
  computation_.retry_now(now);
  advance(now);
}

void Session::on_averaged(TimePoint now, const averaging::AveragingOutcome& outcome) {
  using Verdict = averaging::AveragingOutcome::Verdict;
  const auto& averaged = std::get<RoundCycle::Averaging>(cycle_.phase());
  if (auto trouble = trouble_of(averaged.meeting.group, outcome)) reports_.add_trouble(std::move(*trouble));
  if (outcome.verdict == Verdict::diverged || outcome.unsound) {
    ++totals_.rounds_failed;
    cycle_.on_left_group();
    replica_.lose_sync(now, outcome.unsound ? "what was computed here cannot be averaged"
                                            : "the averaged result differed from the group's");
    on_sync_lost(now);
  } else if (outcome.verdict != Verdict::averaged || outcome.weight_total == 0) {
    left_out_ = outcome.verdict == Verdict::expelled ? LeftOut::by_most : LeftOut::no;
    leave_group(now);
  } else {
    cycle_.on_averaged(outcome);
  }
  advance(now);
}

// Most of the group may have gone on without us, or nobody had anything, or those who went on without us may come to no
// decision. The round goes on with the samples computed so far, until the coordinator calls the remaining members
// together, or names the next state. A minority founds no swarm of its own.
void Session::leave_group(TimePoint now) {
  cycle_.on_left_group();
  if (left_out_ != LeftOut::by_most && link_.away(now)) {
    left_out_ = LeftOut::with_few;
    told_.small_groups.warning(
        now, "half of the group or less is left, and the coordinator cannot be reached: rounds wait for it");
  }
  progress_.look_back();
  draws_.look_back();
  link_.hurry(now);
}

void Session::on_step_done(TimePoint now, const Result<Digest>& new_state) {
  if (new_state.ok()) {
    computation_.on_success();
    finish_round(now, *new_state);
  } else {
    computation_.on_failed(now, new_state.error().message);
    cycle_.on_step_failed(computation_.not_before());
  }
  advance(now);
}

void Session::finish_round(TimePoint now, const Digest& new_state) {
  const RoundCycle::Stepping done = cycle_.finish();
  wire::RoundReport report = report_of(done, new_state);
  report.round = replica_.round();
  report.loss = progress_.loss();
  report.received = received_from(report, options_.self, line_.received);
  if (!done.meeting.group.audit_commitment.is_zero()) report.own = terms_of(done.meeting, progress_.samples());
  mediator_.record_round(report, now - progress_.began());
  reports_.add(std::move(report));
  if (progress_.samples() > 0) totals_.last_loss = progress_.loss();
  ++totals_.rounds_done;
  replica_.on_step(new_state);
  progress_.finish_round(now);
  draws_.finish_round();
  if (now - last_checkpoint_ >= options_.checkpoint_interval) {
    last_checkpoint_ = now;
    mediator_.save_checkpoint(replica_.round(), replica_.digest());
    replica_.remember();
  }
  link_.hurry(now);
}

void Session::begin_round(TimePoint now) {
  if (std::exchange(left_out_, LeftOut::no) == LeftOut::by_most) ++totals_.rounds_failed;
  cycle_.call_off();
  progress_.begin_round(now);
  draws_.begin_round();
}

// The replica is no longer the swarm's: all that was computed from it is lost.
void Session::on_sync_lost(TimePoint now) {
  computation_.discard();
  cycle_.forget_last_group();  // a member that meets its group again must still be at the state they made together
  begin_round(now);
  link_.hurry(now);
}

void Session::on_evaluated(TimePoint now, const Result<Evaluation>& result) {
  computation_.end_evaluation();
  if (!result.ok() && pause_.explains(result.error())) return advance(now);  // it is tried again
  if (result.ok()) {
    computation_.on_success();
    evaluations_.on_measured(replica_.round(), *result);
  } else {
    computation_.on_failed(now, result.error().message);
    evaluations_.on_measured(replica_.round(), std::nullopt);
  }
  link_.hurry(now);
  advance(now);
}

void Session::send_heartbeat(TimePoint now) {
  wire::Heartbeat heartbeat;
  heartbeat.run_id = options_.run_id;
  heartbeat.phase = member_phase();
  heartbeat.state_round = replica_.round();
  heartbeat.state_digest = replica_.digest();
  heartbeat.samples_this_round = progress_.samples();
  heartbeat.samples_per_s = progress_.samples_per_s();
  heartbeat.batch_seconds = progress_.batch_seconds();
  heartbeat.batch_jitter = std::min(progress_.batch_jitter(), wire::kJitterMax);
  heartbeat.listen_port = options_.listen_port;
  heartbeat.upload_bytes_per_s = line_.upload;
  heartbeat.download_bytes_per_s = line_.download;
  heartbeat.round_trip_s = std::min(line_.round_trip_s, wire::kRoundTripMaxS);
  heartbeat.reports = reports_.tell();
  heartbeat.trust.troubles = reports_.tell_troubles();
  if (options_.leased) {
    heartbeat.process = process_;
    heartbeat.next_draw = draws_.next();
  }
  if (!pause_.requested) heartbeat.computing.failure = computation_.trouble(now);
  heartbeat.evaluation = evaluations_.tell();
  heartbeat.trust.state_proof_wanted = replica_.wants_proof();
  heartbeat.trust.audits = audits_.tell();
  if (const auto& checked = audits_.checked(); checked && checked->missed > 0 && !checked->verdict.empty()) {
    heartbeat.trust.audits.self_test_passed = mediator_.passed_self_test(checked->missed);
  }
  heartbeat.trust.holding = proof_of(mediator_, last_reply_.get(), replica_.digest());
  replica_.on_told();
  link_.on_sent(now);
  mediator_.send_heartbeat(heartbeat);
}

void Session::tell_soon(TimePoint now) {
  link_.hurry(now);
  advance(now);
}

void Session::on_heartbeat_failed(TimePoint now, const Error& error) {
  if (!link_.away(now)) log_debug("heartbeat: {}", error.message);
  link_.on_failed(now);
  advance(now);
}

void Session::on_heartbeat_reply(TimePoint now, const wire::HeartbeatReply& reply) {
  link_.on_reply(now, from_ms(reply.next_heartbeat_ms));
  last_reply_ = std::make_shared<wire::HeartbeatReply>(reply);
  draws_.hold(reply.leases);
  if (left_out_ == LeftOut::with_few) left_out_ = LeftOut::no;
  if (options_.audits) {
    audits_.on_reply(now, reply.kept.audits);
    keep_audited(audits_, replica_, mediator_);  // before it is forgotten
    sketch_own(audits_, cycle_.last(), mediator_);
  }
  settle_reports(now, reply);
  evaluations_.on_heard();
  reports_.on_heard();
  if (!options_.has_state) return advance(now);
  // A group of a round that is over: a member that is still at its state may have the result from the others.
  const bool missed = reply.group.has_value() && reply.group->round < reply.round;
  if (!missed || !take_group(now, *reply.group)) take_sync_verdict(now, reply);
  if (reply.group.has_value() && !missed) take_group(now, *reply.group);
  if (reply.send_checkpoint && replica_.synced() && replica_.digest() == reply.state_digest) {
    mediator_.send_checkpoint(replica_.round(), replica_.digest());
  }
  if (reply.evaluate_round) evaluations_.ask(*reply.evaluate_round);
  advance(now);
}

bool Session::take_group(TimePoint now, const wire::GroupInfo& group) {
  if (cycle_.is_bound() || !replica_.synced()) return false;
  if (group.round != replica_.round() || group.state_digest != replica_.digest()) return false;
  if (group.run_id != options_.run_id || !cycle_.may_join(group.id)) return false;
  if (const Status sound = wire::check_group(group); !sound.ok()) {
    told_.refused_plans.warning(now, "the coordinator's plan is refused: " + sound.error().message);
    return false;
  }
  for (averaging::Rank rank = 0; rank < group.members.size(); ++rank) {
    if (group.members[rank].endpoint.peer != options_.self) continue;
    const TimePoint start = now + from_ms(group.start_in_ms);
    if (pause_.requested && start > now + kPauseWaitsFor) return false;
    wire::GroupInfo met = group;
    if (!options_.audits) met.audit_commitment = {};
    cycle_.meet({std::move(met), rank, start});
    told_.plan_reason = group.reason;
    return true;
  }
  return false;
}

void Session::set_line(double upload_bytes_per_s, double download_bytes_per_s, double round_trip_s,
                       std::vector<Received> received) {
  line_ = {upload_bytes_per_s, download_bytes_per_s, round_trip_s, std::move(received)};
}

void Session::set_paused(TimePoint now, bool paused, std::string reason) {
  pause_.reason = std::move(reason);
  if (pause_.requested == paused) return;
  pause_.requested = paused;
  if (paused) progress_.forget_batch_seconds();  // the trainer ends, whether or not it is at a batch
  const Meeting* meeting = cycle_.meeting();
  if (paused && meeting != nullptr && meeting->start > now + kPauseWaitsFor) cycle_.call_off();
  link_.hurry(now);
  advance(now);
}

}  // namespace starling::session
