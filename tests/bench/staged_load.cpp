#include "tests/bench/staged_load.h"

#include <fmt/core.h>

#include <utility>

#include "shared/protocol/heartbeat.h"
#include "shared/protocol/states.h"

namespace starling::bench {
namespace {

constexpr double kTrainerSamplesPerS = 10;
constexpr double kSecondsPerRound = 1;
constexpr Duration kFirstRoundPatience = std::chrono::seconds(60);
constexpr Duration kLastRoundPatience = std::chrono::seconds(60);

std::string paused_heartbeat(const VirtualSwarm& swarm) {
  wire::Heartbeat heartbeat;
  heartbeat.run_id = CoordinatorProcess::kRun;
  heartbeat.phase = wire::MemberPhase::paused;
  heartbeat.state_round = swarm.round();
  heartbeat.state_digest = swarm.state_digest();
  heartbeat.samples_per_s = 123.4;
  heartbeat.batch_seconds = 0.25;
  heartbeat.listen_port = 4000;
  heartbeat.upload_bytes_per_s = 2.5e6;
  heartbeat.download_bytes_per_s = 1.2e7;
  return wire::encode(heartbeat);
}

// Returns paused_heartbeat(), encoded once per round.
std::function<const std::string&()> words_of(const VirtualSwarm& swarm) {
  return [&swarm, round = RoundIndex{-1}, text = std::string()]() mutable -> const std::string& {
    if (const RoundIndex now = swarm.round(); std::exchange(round, now) != now) text = paused_heartbeat(swarm);
    return text;
  };
}

}  // namespace

Result<std::unique_ptr<Stage>> Stage::set(EventLoop& loop, const StageOptions& options) {
  std::unique_ptr<Stage> stage(new Stage(loop, options));
  ProjectOptions project;
  project.peers_max = options.volunteers + options.trainers;
  project.target_batch_size = static_cast<SampleCount>(kTrainerSamplesPerS * kSecondsPerRound * options.trainers);
  project.micro_batch_size = VirtualSwarm::kMicroBatch;
  project.audit_rate = options.audit_rate;
  STARLING_ASSIGN(stage->coordinator, CoordinatorProcess::create(project));
  STARLING_ASSIGN(stage->everybody_, register_volunteers(stage->coordinator->project(), project.peers_max));
  STARLING_TRY(stage->coordinator->serve());
  const auto trainers = std::span(stage->everybody_).subspan(static_cast<std::size_t>(options.volunteers));
  stage->swarm = std::make_unique<VirtualSwarm>(loop, *stage->coordinator, trainers, kTrainerSamplesPerS);
  const auto began = [&] { return stage->swarm->acknowledged_rounds() > 0; };
  if (!loop.run_until(began, loop.now() + kFirstRoundPatience)) {
    return Error{ErrorCode::deadline_exceeded, "no round was acknowledged before the load began"};
  }
  return stage;
}

HeartbeatLoad::Parts Stage::callers() {
  return {loop, *coordinator, std::span(everybody_).first(static_cast<std::size_t>(options_.volunteers)),
          words_of(*swarm)};
}

Status Stage::settle() {
  swarm->stop();
  if (loop.run_until([&] { return swarm->all_acknowledged(); }, loop.now() + kLastRoundPatience)) return {};
  return Error{ErrorCode::deadline_exceeded, "the coordinator did not acknowledge the last rounds"};
}

}  // namespace starling::bench
