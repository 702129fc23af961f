// starling-bench: every claim of speed and memory, one subcommand each.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <functional>
#include <string>

#include "shared/base/files.h"
#include "tests/bench/averaging_bench.h"
#include "tests/bench/bench.h"

namespace {

using namespace starling;
using namespace starling::bench;

struct Chosen {
  std::string name;
  std::function<Result<BenchResult>()> run;
};

int report(const Chosen& chosen, const std::string& json_file) {
  const Result<BenchResult> result = chosen.run();
  if (!result.ok()) {
    std::fprintf(stderr, "starling-bench %s: %s\n", chosen.name.c_str(), result.error().message.c_str());
    return 1;
  }
  std::fputs(to_text(chosen.name, *result).c_str(), stdout);
  if (json_file.empty()) return 0;
  if (const Status written = write_file_atomically(json_file, to_json(chosen.name, *result)); !written.ok()) {
    std::fprintf(stderr, "starling-bench: %s\n", written.error().message.c_str());
    return 1;
  }
  return 0;
}

void add_child_options(CLI::App& command, AveragingChild& child) {
  command.group("");  // not for people
  command.add_option("--rank", child.rank)->required();
  command.add_option("--peers", child.bench.peers)->required();
  command.add_option("--floats", child.bench.floats)->required();
  command.add_option("--codec", child.bench.codec)->required();
  command.add_option("--folder", child.folder)->required();
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  CLI::App app{"starling-bench: measures what Starling claims, each figure against a peer or bound of the same run"};
  app.require_subcommand(1);
  app.fallthrough();
  std::string json_file;
  app.add_option("--json", json_file, "Also write {\"bench\",\"settings\",\"figures\"} to this file");
  Chosen chosen;

  AveragingOptions averaging;
  auto* averaging_command = app.add_subcommand(
      "averaging",
      "N local processes average over mutual TLS, against Gloo without encryption.\n"
      "Figures: time_s, gloo_time_s, ratio_to_gloo, cpu_s_per_gb (of vector and peer), extra_memory_ratio");
  averaging_command->add_option("--peers", averaging.peers, "Processes")
      ->check(CLI::Range(2, 64))
      ->capture_default_str();
  averaging_command->add_option("--floats", averaging.floats, "Length of the vector")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30))
      ->capture_default_str();
  averaging_command->add_option("--codec", averaging.codec, "fp32 or fp16")->capture_default_str();
  averaging_command->add_option("--rounds", averaging.rounds, "Counted rounds")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  averaging_command->callback([&] { chosen = {"averaging", [&] { return run_averaging_bench(averaging); }}; });

  AveragingChild child;
  auto* peer_command = app.add_subcommand("averaging-peer");
  auto* gloo_command = app.add_subcommand("gloo-peer");
  add_child_options(*peer_command, child);
  add_child_options(*gloo_command, child);
  CLI11_PARSE(app, argc, argv);
  if (peer_command->parsed()) return run_averaging_peer(child);
  if (gloo_command->parsed()) return run_gloo_peer(child);
  return report(chosen, json_file);
}
