#include "client/session/session.h"

#include <algorithm>
#include <utility>

#include "client/session/retry.h"
#include "shared/base/log.h"
#include "shared/swarm/successor.h"

namespace starling::session {
namespace {

constexpr std::size_t kReportsKeptMax = 4096;            // rounds without a coordinator before old reports are dropped
constexpr std::size_t kReportMembersPerHeartbeat = 256;  // keeps a heartbeat within wire::kJsonBytesMax
constexpr Duration kPauseWaitsFor = std::chrono::seconds(5);  // a meeting sooner than this is still attended
constexpr Duration kPaceUnknown = std::chrono::seconds(1);
constexpr Duration kPaceMax = std::chrono::hours(1);
constexpr Duration kComputeRetryMax = std::chrono::seconds(30);

}  // namespace

Session::Session(SessionOptions options, InitialState initial, Mediator& mediator)
    : options_(std::move(options)),
      mediator_(mediator),
      link_(options_.seed),
      process_(static_cast<std::int64_t>(mix64(options_.seed) % static_cast<std::uint64_t>(wire::kMessageCountMax)) +
               1),
      state_round_(initial.round),
      state_digest_(initial.digest),
      unsynced_reason_("waiting for the coordinator's first answer"),
      reports_(initial.unacknowledged.begin(), initial.unacknowledged.end()) {}

void Session::start(TimePoint now) {
  last_checkpoint_ = now;
  progress_.begin_round(now);
  link_.hurry(now);
  advance(now);
}

void Session::on_timer(TimePoint now) { advance(now); }

TimePoint Session::next_deadline(TimePoint now) const {
  TimePoint deadline = link_.next_call();
  if (computing_ != Computing::nothing || fetching_) return deadline;
  if ((averaging_ || stepping_) && !options_.delay_parameter_updates) return deadline;
  const auto consider = [&](TimePoint moment) {
    if (moment > now) deadline = std::min(deadline, moment);
  };
  if (meeting_.has_value()) consider(meeting_->start);
  consider(compute_not_before_);
  consider(step_not_before_);
  consider(fetch_not_before_);
  return deadline;
}

void Session::advance(TimePoint now) {
  if (link_.due(now)) send_heartbeat(now);
  const bool delays = options_.delay_parameter_updates;
  const bool idle = computing_ == Computing::nothing;
  if (outcome_.has_value() && !stepping_ && (idle || delays) && now >= step_not_before_) {
    stepping_ = true;
    mediator_.start_step(state_round_);
  }
  if (!idle) return;
  if (averaging_ || outcome_.has_value()) {
    if (delays) compute_batch(now);
    return;
  }
  fetch_if_possible(now);
  if (!fetching_) compute_next(now);
}

bool Session::may_train() const {
  return !paused_ && last_reply_.has_value() && last_reply_->run_state == wire::RunState::running;
}

void Session::compute_next(TimePoint now) {
  if (!synced_) return;
  if (!meeting_.has_value()) plan_without_coordinator(now);
  if (meeting_is_due(now)) {
    begin_averaging(now);
    return;
  }
  // A member that has a place in a plan keeps it: the others count on it.
  if (evaluate_round_ == state_round_ && !meeting_.has_value() && !paused_ && now >= compute_not_before_) {
    computing_ = Computing::evaluation;
    link_.hurry(now);
    mediator_.start_evaluation();
    return;
  }
  compute_batch(now);
}

void Session::compute_batch(TimePoint now) {
  if (now < compute_not_before_ || !may_train()) return;
  round_is_full_ = progress_.growing() + draws_.passed() + options_.micro_batch_size > options_.samples_max;
  if (round_is_full_) return;
  const std::optional<wire::SampleRange> samples = begin_batch(now);
  without_samples_ = !samples;
  if (!samples) return ask_for_leases(now);
  computing_ = Computing::batch;
  discard_batch_ = false;
  batch_began_ = now;
  mediator_.start_batch(*samples, progress_.target());
}

// Returns leased samples, if the gradient has no others.
std::optional<wire::SampleRange> Session::begin_batch(TimePoint now) {
  const wire::SampleRange others = progress_.begin_batch(state_round_, last_reply_->lane, options_.micro_batch_size);
  const bool first = progress_.target().first;
  batch_leased_ = options_.leased && (first || draws_.grows());
  if (batch_leased_) {
    if (auto samples = draws_.begin_batch(others.round, options_.micro_batch_size)) return samples;
    if (!first || !link_.away(now)) return std::nullopt;
    batch_leased_ = false;
  }
  return others;
}

// Asks once while the leases held stay unchanged: the coordinator calls back soon when it has more.
void Session::ask_for_leases(TimePoint now) {
  if (!options_.leased || draws_.left(state_round_) > options_.micro_batch_size) return;
  if (std::exchange(leases_asked_for_, draws_.end()) != draws_.end()) link_.hurry(now);
}

bool Session::meeting_is_due(TimePoint now) const {
  if (!meeting_.has_value()) return false;
  // Another batch that would end later than half a batch past the start keeps the others waiting.
  const double patience = may_train() ? 0.5 * progress_.batch_seconds() : 0.0;
  return now + from_seconds(patience) >= meeting_->start;
}

void Session::plan_without_coordinator(TimePoint now) {
  if (!link_.away(now) || !may_train()) return;
  if (!last_group_.has_value() || last_group_->round + 1 != state_round_) return;
  if (last_group_->grid) return;  // this member knows its own column only
  const wire::GroupInfo group = swarm::plan_successor(*last_group_, last_contributed_, state_digest_);
  for (averaging::Rank rank = 0; rank < group.members.size(); ++rank) {
    if (group.members[rank].endpoint.peer != options_.self) continue;
    meeting_ = Meeting{group, rank, progress_.began() + round_pace()};
    return;
  }
}

// The swarm's pace stays when nobody counts samples. A round that waited for a member is no measure of it.
Duration Session::round_pace() const {
  const double samples_per_s = std::max(last_reply_->swarm_samples_per_s, progress_.samples_per_s());
  if (samples_per_s <= 0) return kPaceUnknown;
  const double seconds = static_cast<double>(last_reply_->target_batch_size) / samples_per_s;
  return from_seconds(std::min(seconds, to_seconds(kPaceMax)));
}

void Session::begin_averaging(TimePoint now) {
  averaging_ = true;
  const bool contributes = meeting_->group.members[meeting_->self].role != wire::MemberRole::auxiliary;
  averaging::Stake stake;
  if (contributes) stake = {progress_.samples(), draws_.first()};
  mediator_.start_averaging(meeting_->group, meeting_->self, stake);
  link_.hurry(now);
  if (!options_.delay_parameter_updates) return;
  progress_.look_ahead(now);
  draws_.look_ahead();
  compute_batch(now);
}

void Session::on_batch_done(TimePoint now, const Result<BatchReport>& result) {
  VERIFY(computing_ == Computing::batch);
  computing_ = Computing::nothing;
  if (!result.ok()) {
    if (result.error().code == ErrorCode::unavailable) progress_.forget_batch_seconds();
    if (!tries_less(result.error()) && !interrupted_by_pause(result.error())) on_compute_failed(now, result.error());
  } else {
    compute_failures_ = 0;
    if (!discard_batch_) take_batch(now, *result);
  }
  advance(now);
}

// A gradient that is not finite will not be finite the second time, but the gradients of some of its samples may be;
// anything else is worth a retry.
bool Session::tries_less(const Error& error) {
  if (error.code != ErrorCode::corrupt || discard_batch_) return false;
  if (batch_leased_) return draws_.on_unusable();
  progress_.skip(options_.micro_batch_size);
  return false;
}

void Session::take_batch(TimePoint now, const BatchReport& batch) {
  progress_.on_batch(batch, to_seconds(now - batch_began_));
  samples_total_ += batch.samples;
  if (batch_leased_) {
    Draws::Passed passed = draws_.on_batch();
    progress_.on_passed(passed.counted);
    // Samples beyond the limit are found again by the members that they are leased to next.
    if (passed.draws.size() > wire::kUnusableDrawsMax) passed.draws.resize(wire::kUnusableDrawsMax);
    if (!passed.draws.empty()) mediator_.report_unusable({options_.run_id, process_, std::move(passed.draws)});
  }
  ask_for_leases(now);
}

// A pause ends the trainer at once, even in the middle of a computation: nothing has failed.
bool Session::interrupted_by_pause(const Error& error) const { return paused_ && error.code == ErrorCode::unavailable; }

void Session::on_compute_failed(TimePoint now, const Error& error) {
  ++compute_failures_;
  compute_failure_ = error.message;
  compute_not_before_ = now + retry_delay(compute_failures_, kComputeRetryMax);
  log_warning("trainer: {}", error.message);
}

void Session::retry_now(TimePoint now) {
  compute_not_before_ = now;
  advance(now);
}

void Session::on_averaged(TimePoint now, const averaging::AveragingOutcome& outcome) {
  VERIFY(averaging_);
  averaging_ = false;
  using Verdict = averaging::AveragingOutcome::Verdict;
  if (outcome.verdict == Verdict::expelled || outcome.verdict == Verdict::diverged) {
    ++rounds_failed_;
    left_group_ = meeting_->group.id;
    lose_sync(now, outcome.verdict == Verdict::expelled ? "the group went on without this computer"
                                                        : "the averaged result differed from the group's");
  } else if (outcome.verdict == Verdict::minority || outcome.weight_total == 0) {
    // Most of the group may have gone on without us, or nobody had anything. The round goes on with the samples
    // computed so far, until the coordinator calls the remaining members together. A minority founds no swarm of its
    // own.
    left_group_ = meeting_->group.id;
    waits_for_most_ = link_.away(now);
    if (waits_for_most_) {
      log_warning("half of the group or less is left, and the coordinator cannot be reached: rounds wait for it");
    }
    meeting_.reset();
    last_group_.reset();
    progress_.look_back();
    draws_.look_back();
    link_.hurry(now);
  } else {
    outcome_ = outcome;
  }
  advance(now);
}

void Session::on_step_done(TimePoint now, const Result<Digest>& new_state) {
  VERIFY(stepping_);
  stepping_ = false;
  if (new_state.ok()) {
    compute_failures_ = 0;
    finish_round(now, *new_state);
  } else {
    on_compute_failed(now, new_state.error());
    step_not_before_ = compute_not_before_;
  }
  advance(now);
}

wire::RoundReport Session::make_report(const Digest& new_state) const {
  wire::RoundReport report;
  report.round = state_round_;
  const std::optional<wire::GridPlan>& grid = meeting_->group.grid;
  report.group = grid ? grid->id : meeting_->group.id;
  if (grid) report.grid = wire::GridShare{grid->column, outcome_->grid->accepted};
  report.autonomous = meeting_->group.autonomous;
  for (std::size_t rank = 0; rank < meeting_->group.members.size(); ++rank) {
    const PeerId& peer = meeting_->group.members[rank].endpoint.peer;
    report.members.push_back(peer);
    if (outcome_->samples[rank] == 0) continue;
    const SampleCount draw = rank < outcome_->draws.size() ? outcome_->draws[rank] : 0;
    report.contributions.push_back({peer, outcome_->samples[rank], draw});
  }
  report.result_digest = outcome_->result_digest;
  report.state_digest = new_state;
  report.loss = progress_.loss();
  report.averaging_ms = to_ms(outcome_->elapsed);
  report.bytes_sent = outcome_->bytes_sent;
  report.bytes_received = outcome_->bytes_received;
  for (const averaging::SeenFault& seen : outcome_->faults) {
    if (report.complaints.size() == wire::kComplaintsMax) break;
    report.complaints.push_back({meeting_->group.members[seen.rank].endpoint.peer, seen.fault});
  }
  return report;
}

void Session::finish_round(TimePoint now, const Digest& new_state) {
  wire::RoundReport report = make_report(new_state);
  mediator_.record_round(report, now - progress_.began());
  reports_.push_back(std::move(report));
  if (reports_.size() > kReportsKeptMax) reports_.pop_front();
  last_group_.reset();
  last_contributed_ = outcome_->samples;
  const auto came = [](SampleCount samples) { return samples > 0; };
  if (std::any_of(last_contributed_.begin(), last_contributed_.end(), came)) last_group_ = meeting_->group;
  if (progress_.samples() > 0) last_loss_ = progress_.loss();
  ++rounds_done_;
  previous_ = Previous{state_round_, state_digest_};
  ++state_round_;
  state_digest_ = new_state;
  outcome_.reset();
  meeting_.reset();
  progress_.finish_round(now);
  draws_.finish_round();
  if (now - last_checkpoint_ >= options_.checkpoint_interval) {
    last_checkpoint_ = now;
    mediator_.save_checkpoint(state_round_, state_digest_);
  }
  link_.hurry(now);
}

void Session::begin_round(TimePoint now) {
  meeting_.reset();
  progress_.begin_round(now);
  draws_.begin_round();
}

void Session::on_evaluated(TimePoint now, const Result<Evaluation>& result) {
  VERIFY(computing_ == Computing::evaluation);
  computing_ = Computing::nothing;
  if (!result.ok() && interrupted_by_pause(result.error())) return advance(now);  // it is tried again
  evaluate_round_.reset();
  last_evaluation_report_ = wire::EvaluationReport{state_round_};
  if (result.ok()) {
    compute_failures_ = 0;
    last_evaluation_report_ = evaluation_ = {state_round_, result->bits_per_byte, result->bytes, result->accuracy};
  } else {
    on_compute_failed(now, result.error());
  }
  evaluation_report_ = last_evaluation_report_;
  link_.hurry(now);
  advance(now);
}

void Session::send_heartbeat(TimePoint now) {
  wire::Heartbeat heartbeat;
  heartbeat.run_id = options_.run_id;
  heartbeat.phase = member_phase();
  heartbeat.state_round = state_round_;
  heartbeat.state_digest = state_digest_;
  heartbeat.samples_this_round = progress_.samples();
  heartbeat.samples_per_s = progress_.samples_per_s();
  heartbeat.batch_seconds = progress_.batch_seconds();
  heartbeat.batch_jitter = std::min(progress_.batch_jitter(), wire::kJitterMax);
  heartbeat.listen_port = options_.listen_port;
  heartbeat.upload_bytes_per_s = upload_bytes_per_s_;
  heartbeat.download_bytes_per_s = download_bytes_per_s_;
  heartbeat.round_trip_s = std::min(round_trip_s_, wire::kRoundTripMaxS);
  std::size_t members = 0;
  for (const wire::RoundReport& report : reports_) {
    members += report.members.size();
    const bool full = heartbeat.reports.size() == wire::kReportsPerHeartbeatMax || members > kReportMembersPerHeartbeat;
    if (full && !heartbeat.reports.empty()) break;
    heartbeat.reports.push_back(report);
  }
  if (options_.leased) {
    heartbeat.process = process_;
    heartbeat.next_draw = draws_.next();
  }
  heartbeat.evaluation = evaluation_report_;
  evaluation_told_ = evaluation_report_.has_value();
  told_state_round_ = state_round_;
  told_state_digest_ = state_digest_;
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
  last_reply_ = reply;
  draws_.hold(reply.leases);
  waits_for_most_ = false;
  settle_reports(now, reply);
  if (evaluation_told_) evaluation_report_.reset();
  // A group of a round that is over: a member that is still at its state may have the result from the others.
  const bool missed = reply.group.has_value() && reply.group->round < reply.round;
  if (!missed || !take_group(now, *reply.group)) take_sync_verdict(now, reply);
  if (reply.group.has_value() && !missed) take_group(now, *reply.group);
  if (reply.send_checkpoint && synced_ && state_digest_ == reply.state_digest) {
    mediator_.send_checkpoint(state_round_, state_digest_);
  }
  if (reply.evaluate_round) take_turn_to_evaluate(*reply.evaluate_round);
  advance(now);
}

// The coordinator asks until it has the answer.
void Session::take_turn_to_evaluate(RoundIndex round) {
  if (last_evaluation_report_ && last_evaluation_report_->round == round) {
    evaluation_report_ = last_evaluation_report_;
  } else {
    evaluate_round_ = round;
  }
}

bool Session::take_group(TimePoint now, const wire::GroupInfo& group) {
  if (averaging_ || outcome_.has_value() || !synced_) return false;
  if (group.round != state_round_ || group.state_digest != state_digest_) return false;
  if (group.run_id != options_.run_id || group.id == left_group_) return false;
  if (const Status sound = wire::check_group(group); !sound.ok()) {
    log_warning("the coordinator's plan is refused: {}", sound.error().message);
    return false;
  }
  for (averaging::Rank rank = 0; rank < group.members.size(); ++rank) {
    if (group.members[rank].endpoint.peer != options_.self) continue;
    const TimePoint start = now + from_ms(group.start_in_ms);
    if (paused_ && start > now + kPauseWaitsFor) return false;
    meeting_ = Meeting{group, rank, start};
    plan_reason_ = group.reason;
    return true;
  }
  return false;
}

void Session::set_line(double upload_bytes_per_s, double download_bytes_per_s, double round_trip_s) {
  upload_bytes_per_s_ = upload_bytes_per_s;
  download_bytes_per_s_ = download_bytes_per_s;
  round_trip_s_ = round_trip_s;
}

void Session::set_paused(TimePoint now, bool paused, std::string reason) {
  paused_reason_ = std::move(reason);
  if (paused_ == paused) return;
  paused_ = paused;
  if (paused) progress_.forget_batch_seconds();  // the trainer ends, whether or not it is at a batch
  if (paused && meeting_.has_value() && !averaging_ && meeting_->start > now + kPauseWaitsFor) meeting_.reset();
  link_.hurry(now);
  advance(now);
}

}  // namespace starling::session
