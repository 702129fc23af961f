// starling-bench: every claim of speed and memory, one subcommand each.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <functional>
#include <string>

#include "shared/base/files.h"
#include "shared/protocol/group_info.h"
#include "shared/run/low_rank.h"
#include "tests/bench/abuse_bench.h"
#include "tests/bench/audits_bench.h"
#include "tests/bench/averaging_command.h"
#include "tests/bench/bench.h"
#include "tests/bench/codecs_bench.h"
#include "tests/bench/heartbeats_bench.h"
#include "tests/bench/joining_bench.h"
#include "tests/bench/leaderboard_bench.h"
#include "tests/bench/optim_bench.h"
#include "tests/bench/plan_check.h"
#ifdef STARLING_TORCH
#include "tests/bench/calls_command.h"
#include "tests/bench/step_bench.h"
#endif

namespace {

using namespace starling;
using namespace starling::bench;

struct Chosen {
  std::string name;
  std::function<Result<BenchResult>()> run;
  std::vector<std::string> columns = {};  // columns of a table
  std::string plot_file = {};
  std::function<std::string(const BenchResult&)> plot = {};
};

// Settings from the command line.
struct Options {
  AbuseOptions abuse;
  AuditsBenchOptions audits;
  AveragingArguments averaging;
  CodecsOptions codecs;
  HeartbeatsOptions heartbeats;
  LeaderboardOptions leaderboard;
  OptimBenchOptions optim;
  PlanCheckOptions plan_check;
#ifdef STARLING_TORCH
  CallsOptions calls;
  CallsChild calls_child;
  StepBenchOptions step;
#endif
  AveragingChild child;
};

Status write_files(const Chosen& chosen, const BenchResult& result, const std::string& json_file) {
  if (!json_file.empty()) STARLING_TRY(write_file_atomically(json_file, to_json(chosen.name, result)));
  if (!chosen.plot_file.empty()) STARLING_TRY(write_file_atomically(chosen.plot_file, chosen.plot(result)));
  return {};
}

int report(const Chosen& chosen, const std::string& json_file) {
  const Result<BenchResult> result = chosen.run();
  if (!result.ok()) {
    std::fprintf(stderr, "starling-bench %s: %s\n", chosen.name.c_str(), result.error().message.c_str());
    return 1;
  }
  std::fputs(to_text(chosen.name, *result, chosen.columns).c_str(), stdout);
  if (const Status written = write_files(chosen, *result, json_file); !written.ok()) {
    std::fprintf(stderr, "starling-bench: %s\n", written.error().message.c_str());
    return 1;
  }
  const auto failed = [](const BenchResult& row) { return !row.problem.empty(); };
  return std::any_of(result->rows.begin(), result->rows.end(), failed) ? 1 : 0;
}

void add_child_options(CLI::App& command, AveragingChild& child) {
  command.group("");  // hidden: not for people
  command.add_option("--rank", child.rank)->required();
  command.add_option("--peers", child.bench.peers)->required();
  command.add_option("--floats", child.bench.floats)->required();
  command.add_option("--codec", child.bench.codec)->required();
  command.add_option("--folder", child.folder)->required();
  command.add_option("--address", child.address);
  command.add_option("--congestion", child.bench.congestion);
  command.add_option("--aggregation", child.bench.aggregation);
  command.add_flag("--audited", child.bench.audited);
  command.add_option("--batch-seconds", child.bench.batch_s);
  command.add_option("--step-seconds", child.bench.step_s);
  child.bench.state_floats = 0;
  command.add_option("--state-floats", child.bench.state_floats);
  command.add_option("--moments", child.bench.moments);
}

void add_abuse(CLI::App& app, AbuseOptions& options, Chosen& chosen) {
  CLI::App* command = app.add_subcommand(
      "abuse",
      "A real coordinator under slow connections, password guessing and random bytes on every route, while honest\n"
      "volunteers call and rounds go on.\n"
      "Figures: calm_p99_ms and p99_ms (open loop, before and meanwhile), attack_s, rounds, slow_closed, "
      "passwords_checked,\n"
      "routes, rss_growth_mb, descriptors_left and disk_growth_mb (from before to after), rss_mb (its peak)");
  command->add_option("--volunteers", options.volunteers, "That call")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  command->add_option("--rate", options.rate_per_s, "Their heartbeats a second, all together")
      ->check(CLI::Range(1.0, 10'000.0))
      ->capture_default_str();
  command->add_option("--slow", options.slow, "Connections whose request never ends")
      ->check(CLI::Range(1, 9000))
      ->capture_default_str();
  command->add_option("--logins", options.logins, "With wrong passwords")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--noise", options.noise, "Requests of random bytes, for every route")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  command->add_option("--seconds", options.seconds, "That all of this takes")
      ->check(CLI::Range(1.0, 3600.0))
      ->capture_default_str();
  command->callback([&] { chosen = {.name = "abuse", .run = [&options] { return run_abuse_bench(options); }}; });
}

void add_audits(CLI::App& app, AuditsBenchOptions& options, Chosen& chosen) {
  CLI::App* command = app.add_subcommand(
      "audits",
      "Two real coordinators beside each other, with equal volunteers whose rounds take a second; in one of the runs\n"
      "they check each other's work. Figures, over the counted rounds, of the run with audits and of the one without\n"
      "(plain_...): cpu_us (the coordinator's CPU time for a heartbeat), heartbeats, kb_up and kb_down (a member's, "
      "in\n"
      "a round), audited_samples (the part that was computed again); cpu_ratio, report_kb_more, checked and missed");
  command->add_option("--trainers", options.trainers, "Of each run")->check(CLI::Range(3, 256))->capture_default_str();
  command->add_option("--audit-rate", options.audit_rate)->check(CLI::Range(0.001, 1.0))->capture_default_str();
  command->add_option("--rounds-before", options.rounds_before, "Rounds that are not counted")
      ->check(CLI::Range(0, 10'000))
      ->capture_default_str();
  command->add_option("--rounds", options.rounds, "Counted rounds")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  command->callback([&] { chosen = {.name = "audits", .run = [&options] { return run_audits_bench(options); }}; });
}

void add_codecs(CLI::App& app, CodecsOptions& options, Chosen& chosen) {
  CLI::App* command = app.add_subcommand(
      "codecs",
      "How fast floats are encoded, decoded and added up on one core (CPU time, in GB of fp32), and what is lost.\n"
      "Figures of each codec C: C_encode_gb_s, C_add_gb_s, C_decode_gb_s, C_both_gb_s (encode, then add), C_vs_memcpy\n"
      "(both, against a memcpy of the same floats), C_bytes_per_float, C_worst (largest error over its documented\n"
      "bound; for sparse, what is left of the vector's norm). Of low-rank products: power_sgd_project_gb_s,\n"
      "power_sgd_finish_gb_s, power_sgd_both_gb_s, power_sgd_bytes_per_float. Of sketches: sketch_ms and\n"
      "sketch_portable_ms, for a million floats");
  command->add_option("--floats", options.floats)
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 28))
      ->capture_default_str();
  command->add_option("--segment-floats", options.segment_floats)
      ->check(CLI::Range(std::int64_t{1}, wire::kSegmentFloatsMax))
      ->capture_default_str();
  command->add_option("--passes", options.passes)->check(CLI::Range(1, 1000))->capture_default_str();
  command->add_option("--rank", options.rank, "Factors of each matrix (PowerSGD)")
      ->check(CLI::Range(1, wire::kLowRankMax))
      ->capture_default_str();
  command->callback([&] { chosen = {.name = "codecs", .run = [&options] { return run_codecs_bench(options); }}; });
}

void add_heartbeats(CLI::App& app, HeartbeatsOptions& options, Chosen& chosen) {
  CLI::App* command = app.add_subcommand(
      "heartbeats",
      "A real coordinator under the heartbeats of many volunteers, over TLS, while rounds go on.\n"
      "Figures: kept_per_s and new_per_s (kept connections; a new one each), p50_ms, p99_ms, new_p50_ms, new_p99_ms\n"
      "(open loop at 70 % of these rates), kept_cpu_us and new_cpu_us (the coordinator's CPU time for one), rss_mb\n"
      "(its peak), rounds, acknowledged_at_kill and ledger_at_kill (kill -9 under load), acknowledged_samples and\n"
      "ledger_samples (after it was served again)");
  command->add_option("--volunteers", options.volunteers, "Members that only call")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--connections", options.connections, "Kept ones")
      ->check(CLI::Range(1, 9000))
      ->capture_default_str();
  command->add_option("--trainers", options.trainers, "Members that go through rounds")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command->add_option("--turns", options.turns, "Of two seconds each, on kept connections and on new ones")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->callback(
      [&] { chosen = {.name = "heartbeats", .run = [&options] { return run_heartbeats_bench(options); }}; });
}

void add_leaderboard(CLI::App& app, LeaderboardOptions& options, Chosen& chosen) {
  CLI::App* command = app.add_subcommand(
      "leaderboard",
      "The ledger and the pages of a project with very many volunteers.\n"
      "Figures: lines_per_s, cpu_us_per_line and bytes_per_line of the ledger; worst_cpu_ms, first_ms, deep_ms, "
      "pinned_ms, search_ms and run_page_ms\n"
      "(medians, of the slowest board), page_bytes (the largest), out_of_order (neighbours on the recent board)");
  command->add_option("--volunteers", options.volunteers)->check(CLI::Range(1, 1'000'000))->capture_default_str();
  command->add_option("--lines", options.lines, "Of the ledger")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::int64_t{1000}, std::int64_t{100'000'000}))
      ->capture_default_str();
  command->callback(
      [&] { chosen = {.name = "leaderboard", .run = [&options] { return run_leaderboard_bench(options); }}; });
}

void add_optim(CLI::App& app, OptimBenchOptions& options, Chosen& chosen) {
  CLI::App* command = app.add_subcommand(
      "optim",
      "The optimizers' steps on one thread, against a memcpy of the parameters (CPU time).\n"
      "Figures of each optimizer K: K_gb_s (bytes a step cannot help moving), K_vs_copy (as a share of what memcpy\n"
      "moves), K_ns (for one parameter); muon_gflops (of the matrix products that Muon's step consists of)");
  command->add_option("--layers", options.layers, "Of a GPT of width 1024; 8 are 102 million parameters")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command->add_option("--passes", options.passes)->check(CLI::Range(1, 1000))->capture_default_str();
  command->callback([&] { chosen = {"optim", [&options] { return run_optim_bench(options); }}; });
}

void add_plan_check(CLI::App& app, PlanCheckOptions& options, Chosen& chosen) {
  CLI::App* command = app.add_subcommand(
      "plan-check",
      "Averagings over shaped links, as starling-coordinator plan predicts them and as they are (needs root: network\n"
      "namespaces). Figures of each setting: predicted_s, time_s (median), error (at most 0.1). Of steps of training,\n"
      "in which pairs mix while each computes, also mixing_s and averaging_s (each alone), apart_predicted_s and\n"
      "apart_s (all-reduce after computing), hidden_ratio (time_s over the longer of computing and mixing),\n"
      "apart_ratio (apart_s over the sum of computing and averaging) and speed_up (apart_s over time_s)");
  command->add_option("--rounds", options.rounds, "Counted rounds")->check(CLI::Range(1, 1000))->capture_default_str();
  command->add_option("--only", options.only, "Settings whose name holds this, such as 'steps' or 'fp16'");
  command->add_option("--plot", options.plot_file, "Also draw every round into this SVG file");
  command->callback([&] {
    chosen = {"plan-check", [&options] { return run_plan_check(options); }, plan_check_columns(), options.plot_file,
              plan_check_plot};
  });
}

#ifdef STARLING_TORCH
void add_step(CLI::App& app, StepBenchOptions& options, Chosen& chosen) {
  CLI::App* command = app.add_subcommand(
      "step",
      "The trainer's local step, against the same model in a bare LibTorch loop and in PyTorch, step by step in turn.\n"
      "Figures of each model: step_s, bare_step_s, python_step_s, ratio_to_bare, ratio_to_python, gflops");
  command->add_option("--model", options.models, "gpt (11 M parameters), albert (base) or resnet (18 layers)")
      ->check(CLI::IsMember({"gpt", "albert", "resnet"}))
      ->capture_default_str();
  command->add_option("--steps", options.steps, "Counted steps")->check(CLI::Range(1, 100'000))->capture_default_str();
  command->add_option("--threads", options.threads, "Of each loop")->check(CLI::Range(1, 64))->capture_default_str();
  command->add_option("--python", options.python, "One that has PyTorch; empty: leave it out")->capture_default_str();
  command->callback([&] {
    chosen = {.name = "step", .run = [&options] { return run_step_bench(options); }, .columns = step_columns()};
  });
}
#endif

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  CLI::App app{"starling-bench: measures what Starling claims, each figure against a peer or bound of the same run"};
  app.require_subcommand(1);
  app.fallthrough();
  std::string json_file;
  app.add_option("--json", json_file, "Also write {\"bench\",\"settings\",\"figures\"} to this file");
  Chosen chosen;
  Options options;
  CLI::App* averaging = add_averaging_command(app, options.averaging);
  add_abuse(app, options.abuse, chosen);
  add_audits(app, options.audits, chosen);
  add_codecs(app, options.codecs, chosen);
  add_heartbeats(app, options.heartbeats, chosen);
  add_leaderboard(app, options.leaderboard, chosen);
  add_optim(app, options.optim, chosen);
  add_plan_check(app, options.plan_check, chosen);
#ifdef STARLING_TORCH
  add_step(app, options.step, chosen);
  CLI::App* calls = add_calls_command(app, options.calls);
  CLI::App* calls_volunteer = add_calls_volunteer_command(app, options.calls_child);
#endif
  auto* peer_command = app.add_subcommand("averaging-peer");
  auto* gloo_command = app.add_subcommand("gloo-peer");
  auto* joiner_command = app.add_subcommand("joiner");
  add_child_options(*peer_command, options.child);
  add_child_options(*gloo_command, options.child);
  add_child_options(*joiner_command, options.child);
  CLI11_PARSE(app, argc, argv);
  if (averaging->parsed()) {
    chosen = {"averaging", [&] { return run_averaging(options.averaging); }, averaging_columns(options.averaging),
              options.averaging.plot_file, averaging_plot};
  }
#ifdef STARLING_TORCH
  if (calls->parsed()) {
    chosen = {.name = "calls",
              .run = [&] { return run_calls_bench(options.calls); },
              .columns = calls_columns(options.calls)};
  }
  if (calls_volunteer->parsed()) return run_calls_volunteer(options.calls_child);
#endif
  if (peer_command->parsed()) return run_averaging_peer(options.child);
  if (gloo_command->parsed()) return run_gloo_peer(options.child);
  if (joiner_command->parsed()) return run_joiner(options.child);
  return report(chosen, json_file);
}
