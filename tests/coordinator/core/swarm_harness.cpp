#include "tests/coordinator/core/swarm_harness.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "shared/protocol/heartbeat.h"
#include "shared/swarm/plausible.h"
#include "shared/swarm/successor.h"

namespace starling::core::testing {
namespace {

constexpr Duration kStep = std::chrono::milliseconds(5);

}  // namespace

Swarm::Swarm(wire::RunManifest manifest, RecoveredRun recovered, CoordinatorOptions options)
    : manifest_(std::move(manifest)), options_(options) {
  state = recovered.state;
  coordinator = std::make_unique<RunCoordinator>(manifest_, 1000, recovered, hosts, options_);
}

void Swarm::restart_coordinator(CoordinatorOptions options) {
  pending_.clear();
  pending_groups_.clear();
  RecoveredRun recovered = running_run();
  recovered.state = state;
  if (!decided.empty()) {
    recovered.round = decided.back().round + 1;
    recovered.state_digest = decided.back().state_digest;
    recovered.survivors = decided.back().survivors;
    recovered.last_group = decided.back().group;
    for (const CreditedContribution& line : decided.back().contributions) {
      recovered.last_credited.push_back({line.peer, line.account});
    }
  }
  for (const RoundDecided& round : decided) recovered.states.push_back({round.round + 1, round.state_digest});
  recovered.groups = groups;
  recovered.lanes = lanes;
  recovered.evaluated_round = evaluated_;
  options_ = options;
  coordinator = std::make_unique<RunCoordinator>(manifest_, 1000, recovered, hosts, options_);
}

void VirtualMember::step(const wire::RoundReport& report, const wire::GroupInfo& averaged_in) {
  reports.push_back(report);
  kept_state = std::exchange(state, report.state_digest);
  kept_samples = samples;
  last_group = averaged_in;
  last_contributed.assign(averaged_in.members.size(), 0);
  for (std::size_t rank = 0; rank < averaged_in.members.size(); ++rank) {
    for (const wire::Contribution& contribution : report.contributions) {
      if (contribution.peer == averaged_in.members[rank].endpoint.peer) last_contributed[rank] = contribution.samples;
    }
  }
  ++state_round;
  samples = std::exchange(samples_ahead, 0);
  train_on();
}

wire::GroupInfo Swarm::successor_group(const VirtualMember& member) {
  return swarm::plan_successor(*member.last_group, member.last_contributed, member.state);
}

VirtualMember& Swarm::add(int number, double samples_per_s) {
  VirtualMember& member = members_[peer_id(number)];
  member.peer = peer_id(number);
  member.samples_per_s = samples_per_s;
  member.state = first_state();
  member.trained_at = member.next_call = now;
  return member;
}

void Swarm::run_for(Duration time) {
  const TimePoint end = now + time;
  while (now < end) {
    now += kStep;
    wall.unix_ms += to_ms(kStep);
    step();
  }
}

void Swarm::step() {
  std::set<GroupId> due;
  for (auto& [peer, member] : members_) {
    if (!member.alive) continue;
    evaluate(member);
    train(member);
    if (member.phase == wire::MemberPhase::downloading && now >= member.downloaded_at) {
      member.phase = wire::MemberPhase::training;
      member.state = member.download;
      member.state_round = member.download_round;
      member.next_call = now;
    }
    if (member.phase == wire::MemberPhase::training && member.group && now >= member.start) {
      member.phase = wire::MemberPhase::averaging;
      member.next_call = now;
    }
    if (member.late && now >= member.late_until) finish(member, *std::exchange(member.late, std::nullopt));
    if (member.phase == wire::MemberPhase::averaging && !member.late && now >= member.start + averaging_time) {
      due.insert(member.group->id);
    }
  }
  for (const GroupId& group : due) meet(group);
  for (auto& [peer, member] : members_) {
    if (member.alive && now >= member.next_call) call(member);
  }
  if (coordinator_reachable && coordinator->next_deadline() <= now) take(coordinator->on_timer(now, wall));
  store_pending();
}

// Measures the state when it comes to the round it was asked for, and does nothing else meanwhile.
void Swarm::evaluate(VirtualMember& member) {
  if (now >= member.evaluated_at) {
    member.evaluated_at = kNever;
    member.evaluation = wire::EvaluationReport{member.state_round, member.bits_per_byte, 1000};
    member.phase = wire::MemberPhase::training;
    member.next_call = now;
  }
  const bool due = member.synced && member.evaluate_round == member.state_round && !member.group && !member.paused;
  if (!due || member.phase != wire::MemberPhase::training) return;
  member.evaluate_round.reset();
  member.evaluated_at = now + member.evaluation_takes;
  member.phase = wire::MemberPhase::evaluating;
  member.next_call = now;
}

void Swarm::train(VirtualMember& member) {
  const bool trains = member.synced && !member.paused && member.phase == wire::MemberPhase::training &&
                      member.last_reply.run_state == wire::RunState::running;
  const double computed = member.samples_per_s * to_seconds(now - member.trained_at);
  const auto samples_max = swarm::member_samples_max(manifest_.target_batch_size, manifest_.micro_batch_size);
  if (trains) member.samples = std::min(member.samples + computed, static_cast<double>(samples_max));
  if (member.phase == wire::MemberPhase::averaging && member.delays_updates) member.samples_ahead += computed;
  member.trained_at = now;
}

// All living members of the group that are averaging end together: the survivors.
void Swarm::meet(const GroupId& group) {
  std::vector<VirtualMember*> survivors;
  for (auto& [peer, member] : members_) {
    const bool averages = member.alive && member.phase == wire::MemberPhase::averaging && !member.late;
    const bool inside = averages && member.group->id == group;
    if (inside) survivors.push_back(&member);
  }
  wire::RoundReport report;
  report.round = survivors.front()->group->round;
  report.group = group;
  report.autonomous = survivors.front()->group->autonomous;
  for (const wire::GroupMember& planned : survivors.front()->group->members) {
    report.members.push_back(planned.endpoint.peer);
  }
  for (VirtualMember* member : survivors) {
    const auto samples = static_cast<SampleCount>(std::floor(member->samples));
    if (samples > 0) report.contributions.push_back({member->peer, samples});
    averaged[member->peer] += samples;
  }
  report.state_digest = state_after(survivors.front()->state, group);
  report.loss = 2.0;
  report.averaging_ms = to_ms(averaging_time);
  for (VirtualMember* member : survivors) {
    const auto& planned = member->group->members;
    const bool late = std::any_of(planned.begin(), planned.end(), [&](const wire::GroupMember& seat) {
      return seat.endpoint.peer == member->peer && seat.role == wire::MemberRole::deferred;
    });
    if (late) {
      member->late = report;
      member->late_until = now + member->result_takes;
    } else {
      finish(*member, report);
    }
  }
}

void Swarm::finish(VirtualMember& member, const wire::RoundReport& agreed) {
  wire::RoundReport report = agreed;
  report.complaints = complaints[member.peer];
  for (std::size_t place = 0; tells_lines && place < report.members.size(); ++place) {
    const double line = members_.at(report.members[place]).line_bytes_per_s;
    const double others = static_cast<double>(report.members.size()) - 1;
    if (line > 0 && others > 0) report.received.push_back({static_cast<std::int64_t>(place), line / others});
  }
  if (report.contributions.empty()) {
    member.train_on();
  } else {
    member.step(report, wire::GroupInfo(*member.group));
  }
  member.trained_at = now;
  member.next_call = now;
  evaluate(member);
}

wire::Heartbeat Swarm::heartbeat_of(const VirtualMember& member) {
  wire::Heartbeat beat;
  beat.run_id = "test";
  beat.phase = member.paused && member.phase == wire::MemberPhase::training ? wire::MemberPhase::paused : member.phase;
  beat.state_round = member.state_round;
  beat.state_digest = member.state;
  beat.samples_this_round = static_cast<SampleCount>(member.samples);
  beat.samples_per_s = member.synced ? member.samples_per_s : 0;
  beat.batch_seconds = member.batch_seconds;
  beat.batch_jitter = member.batch_jitter;
  beat.listen_port = 4000;
  if (member.last_reply.relaying.at) beat.relaying.posted_at = member.last_reply.relaying.at->relay;
  beat.upload_bytes_per_s = beat.download_bytes_per_s = member.line_bytes_per_s;
  beat.round_trip_s = member.round_trip_s;
  beat.evaluation = member.evaluation;
  if (const Hash128& challenge = member.last_reply.kept.challenge; member.proves && !challenge.is_zero()) {
    beat.trust.holding = wire::HoldingProof{challenge, member.lies.value_or(holding_proof(challenge, member.state))};
  }
  for (const wire::RoundReport& report : member.reports) {
    if (beat.reports.size() < wire::kReportsPerHeartbeatMax) beat.reports.push_back(report);
  }
  return beat;
}

HeartbeatDecision Swarm::call(VirtualMember& member) {
  ++member.calls;
  if (!coordinator_reachable) {
    member.next_call = now + std::chrono::milliseconds(500);
    return {};
  }
  const wire::Heartbeat beat = heartbeat_of(member);
  const OpenHosts& known = hosts;
  const MemberIdentity who{member.peer, known.account_of(member.peer).value_or(0), "192.0.2.1"};
  HeartbeatDecision decision = coordinator->on_heartbeat(now, wall, who, beat);
  take(decision.ops);
  if (decision.dial_back) coordinator->on_dialled_back(now, *decision.dial_back, member.dialable);
  if (decision.refusal) {
    member.next_call = now + std::chrono::seconds(5);
    return decision;
  }
  const wire::HeartbeatReply& reply = member.last_reply = decision.reply;
  member.next_call = now + from_ms(reply.next_heartbeat_ms);
  member.evaluation.reset();
  if (reply.evaluate_round) member.evaluate_round = reply.evaluate_round;
  std::erase_if(member.reports, [&](const auto& report) { return report.round < reply.acknowledged_rounds; });
  if (member.phase == wire::MemberPhase::averaging || reply.state_digest.is_zero()) return decision;
  if (member.phase == wire::MemberPhase::evaluating) return decision;
  if (member.phase == wire::MemberPhase::downloading && reply.state_digest == member.download) return decision;
  if (reply.round < member.state_round && !member.reports.empty()) return decision;
  if (reply.state_digest == member.state && reply.round >= member.state_round) {
    member.state_round = reply.round;
    if (!member.synced) member.next_call = now;  // the trainer starts
    member.synced = true;
    member.phase = wire::MemberPhase::training;
  } else {
    const bool returns = reply.state_digest == member.kept_state && reply.round + 1 == member.state_round;
    member.synced = false;
    member.phase = wire::MemberPhase::joining;
    member.group.reset();
    member.samples = member.samples_ahead = 0;
    if (returns) {  // its samples are kept
      member.state = member.kept_state;
      member.state_round = reply.round;
      member.samples = member.kept_samples;
      member.next_call = now;
    } else if (!reply.donors.empty() || reply.round == 0) {  // everybody makes the first state
      member.download = reply.state_digest;
      member.download_round = reply.round;
      member.phase = wire::MemberPhase::downloading;
      member.downloaded_at = now + member.download_takes;
    }
  }
  if (reply.group && reply.group->round == member.state_round && member.synced) {
    CHECK(wire::check_group(*reply.group).ok());
    member.group = reply.group;
    member.start = now + from_ms(reply.group->start_in_ms);
  }
  return decision;
}

void Swarm::take(const std::vector<StoreOp>& ops) {
  for (const StoreOp& op : ops) {
    if (const auto* round = std::get_if<RoundDecided>(&op)) pending_.push_back(*round);
    if (const auto* seated = std::get_if<GroupSeated>(&op)) pending_groups_.push_back(seated->group);
    if (const auto* lane = std::get_if<LaneAssigned>(&op)) {
      std::erase_if(lanes, [&](const LaneHolder& holder) { return holder.peer == lane->displaced; });
      lanes.push_back(lane->holder);
    }
    if (const auto* evaluation = std::get_if<EvaluationStored>(&op)) {
      evaluations.push_back(*evaluation);
      evaluated_ = evaluation->round;
    }
    if (const auto* found = std::get_if<StateAdopted>(&op)) adopted.push_back(*found);
    if (const auto* changed = std::get_if<RunStateChanged>(&op)) state = changed->state;
  }
}

void Swarm::store_pending() {
  if (!store_takes) return;
  groups.insert(groups.end(), pending_groups_.begin(), pending_groups_.end());
  pending_groups_.clear();
  for (const RoundDecided& round : pending_) {
    CHECK_MESSAGE((decided.empty() || round.round > decided.back().round), "rounds never go back");
    for (const CreditedContribution& contribution : round.contributions) {
      const bool is_new = ledger.emplace(std::pair(round.round, contribution.peer), contribution.samples).second;
      CHECK_MESSAGE(is_new, "nobody is credited twice for a round");
    }
    decided.push_back(round);
    std::erase_if(groups, [&](const SeatedGroup& group) { return group.round < round.round; });
    if (round.successor) groups.push_back(*round.successor);
    coordinator->on_stored(round.round);
  }
  pending_.clear();
}

}  // namespace starling::core::testing
