#include "tests/bench/audits_bench.h"

#include <fmt/core.h>

#include <memory>
#include <string>

#include "tests/bench/staged_load.h"

namespace starling::bench {
namespace {

constexpr double kCpuRatioMax = 1.1;
constexpr double kReportGrowthMaxKb = 8;
constexpr Duration kRoundPatience = std::chrono::seconds(10);

// Readings of one run, at one moment or over a while.
struct Readings {
  RoundIndex rounds = 0;
  double cpu_seconds = 0;
  VirtualSwarm::Calls calls;
  SampleCount samples = 0;
  SampleCount audited = 0;
};

Readings read(const Stage& stage) {
  return {stage.swarm->acknowledged_rounds(), stage.coordinator->cpu_seconds(), stage.swarm->calls(),
          stage.swarm->acknowledged_samples(), stage.swarm->audited_samples()};
}

Readings since(const Readings& before, const Stage& stage) {
  Readings now = read(stage);
  now.rounds -= before.rounds;
  now.cpu_seconds -= before.cpu_seconds;
  now.calls.answered -= before.calls.answered;
  now.calls.bytes_up -= before.calls.bytes_up;
  now.calls.bytes_down -= before.calls.bytes_down;
  now.calls.bytes_measured -= before.calls.bytes_measured;
  now.samples -= before.samples;
  now.audited -= before.audited;
  return now;
}

void set_figures(const Readings& read, int members, const std::string& prefix, BenchResult& result) {
  const double turns = static_cast<double>(read.rounds) * members;
  result.figures[prefix + "cpu_us"] = read.cpu_seconds * 1e6 / static_cast<double>(read.calls.answered);
  result.figures[prefix + "heartbeats"] = static_cast<double>(read.calls.answered) / turns;
  result.figures[prefix + "kb_up"] = static_cast<double>(read.calls.bytes_up) / 1024 / turns;
  result.figures[prefix + "kb_down"] = static_cast<double>(read.calls.bytes_down) / 1024 / turns;
}

}  // namespace

Result<BenchResult> run_audits_bench(const AuditsBenchOptions& options) {
  EventLoop loop;
  StageOptions stage{.volunteers = 0, .trainers = options.trainers};
  STARLING_ASSIGN(const auto plain, Stage::set(loop, stage));
  stage.audit_rate = options.audit_rate;
  STARLING_ASSIGN(const auto audited, Stage::set(loop, stage));
  const auto go_on = [&](RoundIndex rounds) -> Status {
    const auto done = [&, plain_end = plain->swarm->acknowledged_rounds() + rounds,
                       audited_end = audited->swarm->acknowledged_rounds() + rounds] {
      return plain->swarm->acknowledged_rounds() >= plain_end && audited->swarm->acknowledged_rounds() >= audited_end;
    };
    if (loop.run_until(done, loop.now() + rounds * kRoundPatience)) return {};
    return Error{ErrorCode::deadline_exceeded, fmt::format("{} rounds were not made in time", rounds)};
  };
  fmt::print(stderr, "{} rounds until everybody has been right for long, then {} that count, of a second or two each\n",
             options.rounds_before, options.rounds);
  STARLING_TRY(go_on(options.rounds_before));
  const Readings plain_before = read(*plain);
  const Readings audited_before = read(*audited);
  const VirtualSwarm::Checked checked_before = audited->swarm->checked();
  STARLING_TRY(go_on(options.rounds));
  const Readings without = since(plain_before, *plain);
  const Readings with = since(audited_before, *audited);
  const VirtualSwarm::Checked checked = audited->swarm->checked();

  BenchResult result;
  result.settings = {{"trainers", std::to_string(options.trainers)},
                     {"audit_rate", fmt::format("{}", options.audit_rate)},
                     {"rounds_before", std::to_string(options.rounds_before)},
                     {"rounds", std::to_string(options.rounds)}};
  set_figures(without, options.trainers, "plain_", result);
  set_figures(with, options.trainers, "", result);
  result.figures["cpu_ratio"] = result.figures["cpu_us"] / result.figures["plain_cpu_us"];
  result.figures["report_kb_more"] =
      static_cast<double>(with.calls.bytes_measured) / 1024 / (static_cast<double>(with.rounds) * options.trainers);
  result.figures["audited_samples"] = static_cast<double>(with.audited) / static_cast<double>(with.samples);
  result.figures["checked"] = static_cast<double>(checked.rounds - checked_before.rounds);
  result.figures["missed"] = static_cast<double>(checked.missed);
  result.aims = {{"cpu_ratio", kCpuRatioMax}, {"report_kb_more", kReportGrowthMaxKb}, {"missed", 0}};
  STARLING_TRY(plain->settle());
  STARLING_TRY(audited->settle());
  return result;
}

}  // namespace starling::bench
