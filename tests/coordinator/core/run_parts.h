// A run whose parts are looked at one by one: its settings, the round in work, and the members as their calls show
// them.
#pragma once

#include <string>
#include <vector>

#include "coordinator/core/member.h"
#include "coordinator/core/run_status.h"
#include "shared/protocol/heartbeat.h"
#include "tests/coordinator/core/small_run.h"

namespace starling::core::testing {

struct RunParts {
  explicit RunParts(const wire::RunManifest& manifest = small_manifest(), const CoordinatorOptions& options = {})
      : settings{manifest, 1000, hosts, options} {
    run.state = wire::RunState::running;
    run.canonical = first_state();
    run.started = run.round_began = now;
  }

  // A call of a member that trains on the canonical state.
  [[nodiscard]] wire::Heartbeat training(double samples_per_s = 20) const {
    wire::Heartbeat beat;
    beat.phase = wire::MemberPhase::training;
    beat.state_round = run.round;
    beat.state_digest = run.canonical;
    beat.samples_per_s = samples_per_s;
    beat.batch_seconds = 0.05;
    beat.listen_port = 4000;
    return beat;
  }
  // A call of a member that loads the state.
  [[nodiscard]] wire::Heartbeat loading(double download_bytes_per_s = 0) const {
    wire::Heartbeat beat = training(0);
    beat.phase = wire::MemberPhase::downloading;
    beat.state_digest = {};
    beat.download_bytes_per_s = download_bytes_per_s;
    return beat;
  }
  // Notes the call, and tells the member to call again after `next`.
  Member& call(int number, const wire::Heartbeat& heartbeat, Duration next = std::chrono::seconds(1)) {
    const MemberIdentity who{peer_id(number), hosts.account_of(peer_id(number)).value(), "192.0.2.1"};
    Member& member = members.touch(now, who, heartbeat);
    member.reach.verdict = wire::Reachability::reachable;
    members.judge(now, member, run.canonical);
    member.told = next;
    return member;
  }
  Member& member(int number) { return *members.find(peer_id(number)); }
  // The round in work is over; the state after it has this name.
  void begin_round(const Digest& state) {
    ++run.round;
    run.canonical = state;
    run.round_began = now;
  }

  OpenHosts hosts;
  TimePoint now{std::chrono::seconds(100)};
  WallTime wall{1'700'000'000'000};
  RunSettings settings;
  RunStatus run;
  MemberTable members;
};

inline GroupId group_id(std::uint8_t number) {
  GroupId id;
  id.bytes.fill(number);
  return id;
}

// A group of these members that may decide the round.
inline SeatedGroup seated_group(const GroupId& id, RoundIndex round, const std::vector<int>& numbers,
                                const KnownHosts& hosts) {
  SeatedGroup group{SeatedGroup::Origin::dealt, id, round, {{}}, 1000};
  for (const int number : numbers) {
    group.columns[0].push_back({peer_id(number), hosts.account_of(peer_id(number)).value()});
  }
  return group;
}

// A report of this group in which each member brought `samples`.
inline wire::RoundReport report_of(const SeatedGroup& group, const Digest& state_after_it, SampleCount samples = 20) {
  wire::RoundReport report;
  report.round = group.round;
  report.group = group.id;
  for (const Seat& seat : group.columns[0]) {
    report.members.push_back(seat.peer);
    report.contributions.push_back({seat.peer, samples});
  }
  report.state_digest = state_after_it;
  report.averaging_ms = 80;
  return report;
}

}  // namespace starling::core::testing
