#include "tests/bench/averaging_command.h"

#include <CLI/CLI.hpp>

#include "shared/base/words.h"
#include "shared/run/moments.h"
#include "shared/wire/codec.h"

namespace starling::bench {
namespace {

constexpr const char* kDescription =
    "N local processes average over mutual TLS: over loopback against Gloo without encryption, or with --links over\n"
    "shaped links against what these allow (needs root: network namespaces).\n"
    "Figures, medians of the rounds where each round has one (--json: all of them): time_s, cpu_s_per_gb (of vector\n"
    "and peer), cipher_s_per_gb (the same, of encryption by itself), gloo_cpu_s_per_gb (without encryption),\n"
    "cpu_ratio (of the first to the other two together), wakes_per_mb, extra_memory_ratio, values_correct\n"
    "(each coordinate is the mean of those who are said to be in it), survivors_identical (all peers hold the same\n"
    "bits), expelled (peers that were taken for dead though nobody struck them: then neither of these is 1),\n"
    "complete_part (of the coordinates: everybody is in them); gloo_time_s, ratio_to_gloo; bound_s (the least time in\n"
    "which the links can carry the vectors at line rate), ratio_to_bound, gloo_ratio_to_bound.\n"
    "With --blow each round is a group of its own in which one peer is struck at some moment: time_s, struck_time_s,\n"
    "recovery_s (how much later than undisturbed the survivors were done, at worst), recovery_median_s, blows, and as\n"
    "parts of these values_correct, survivors_identical and victims_deceived (took something else for the result);\n"
    "complete_part is then of the survivors.\n"
    "With --joiners: time_s, joined_time_s, joined_ratio (of the two, pair by pair), round_ratio (of whole rounds, in\n"
    "which the peers compute for --batch-seconds before they average), download_s and download_mb (of one joiner).\n"
    "Of several settings (--table, or --links more than once) each is a row, and the figures are the worst of the "
    "rows.";

constexpr std::int64_t kLinksTableFloats = 4 << 20;
constexpr int kFaultsTableRounds = 20;

void add_link_options(CLI::App& command, AveragingArguments& arguments) {
  AveragingOptions& options = arguments.options;
  command
      .add_option("--links", arguments.links,
                  "UP[:DOWN[:DELAY_MS]][xCOUNT],…: one peer behind each, rates in Mbit/s. 100x4 is four peers with\n"
                  "100 both ways; 200:50:10 sends at 200, receives at 50, and adds 10 ms each way, so that two such\n"
                  "peers are a round trip of 40 ms apart. Given several times: a row each")
      ->allow_extra_args(false);
  command.add_option("--loss", options.loss_percent, "Percent of frames lost between two peers, with --links")
      ->check(CLI::Range(0.0, 50.0));
  command.add_option(
      "--batch-seconds", options.batch_s,
      "Over shaped links: time the peers compute between rounds, by which slow ones get their roles; 0: no roles");
  command.add_option("--congestion", options.congestion,
                     "What TCP uses with --links, such as cubic; ours asks for bbr otherwise, where links go far");
  command.add_flag("--gloo", options.gloo, "Run Gloo over the shaped links too");
}

}  // namespace

CLI::App* add_averaging_command(CLI::App& app, AveragingArguments& arguments) {
  AveragingOptions& options = arguments.options;
  CLI::App* command = app.add_subcommand("averaging", kDescription);
  command->add_option("--peers", options.peers, "Processes")->check(CLI::Range(2, 64))->capture_default_str();
  auto* floats = command->add_option("--floats", options.floats, "Length of the vector (of --table links: 4Mi)");
  floats->transform(CLI::AsSizeValue(false))->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30));
  floats->capture_default_str();
  command->add_option("--codec", options.codec, "How floats travel: " + wire::codec_names())->capture_default_str();
  command
      ->add_option("--aggregation", options.aggregation,
                   "The bound on contributions: clipped; mean, none; centered-clip, around zero, which shortens what\n"
                   "most peers bring: values_correct then says that no coordinate is longer than a peer's")
      ->check(CLI::IsMember({"clipped", "mean", "centered-clip"}))
      ->capture_default_str();
  command->add_flag("--audited", options.audited, "Plans have audits: owners sketch what others contribute");
  auto* rounds = command->add_option("--rounds", options.rounds, "Counted rounds (of --table blows: 20)");
  rounds->check(CLI::Range(1, 1000))->capture_default_str();
  command->add_option("--rest", options.rest_s, "Seconds before each round in which links carry nothing")
      ->check(CLI::Range(0.0, 3600.0));
  add_link_options(*command, arguments);
  auto* fault = command->add_option(
      "--blow", options.fault,
      "Strike one peer in the middle of each round: kill its process; stop it (it lives, and answers\n"
      "nothing); cut its link; make it deaf (it hears nobody) or mute (nobody hears it)");
  fault->check(CLI::IsMember({"kill", "stop", "cut", "deaf", "mute"}));
  command->add_flag_callback(
      "--kill-one", [&options] { options.fault = "kill"; }, "The same as --blow kill");
  command
      ->add_option("--joiners", options.joiners,
                   "Beside the peers: in every second round they download a state from these. Their links come last")
      ->check(CLI::Range(0, 64))
      ->excludes(fault);
  command->add_option("--state-floats", options.state_floats, "Of that state: enough for it to outlast a round")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30))
      ->capture_default_str();
  command
      ->add_option("--moments", options.moments,
                   "What it holds of the optimizer's: " + allowed_words<wire::MomentForm>())
      ->check(CLI::IsMember({"fp32", "fp16", "fp8"}))
      ->capture_default_str();
  auto* table = command->add_option(
      "--table", arguments.table,
      "links: the shaped links that averaging is judged by; loopback: 4 and 8 peers, 16 Mi and 64 Mi floats, fp32\n"
      "and fp16; blows: what may strike a peer; bound: --aggregation mean, clipped and centered-clip. Each setting a "
      "row");
  table->check(CLI::IsMember(kAveragingTables))->excludes("--links")->excludes("--blow")->excludes("--kill-one");
  command
      ->add_option("--passes", arguments.passes,
                   "Measure every row so many times, one row after another, and take the medians of all rounds: what\n"
                   "slows the machine for a minute then spoils no row")
      ->check(CLI::Range(1, 100))
      ->capture_default_str()
      ->excludes(fault)
      ->excludes("--kill-one");
  command->add_option("--plot", arguments.plot_file, "Also draw every round into this SVG file");
  command->final_callback([&arguments, floats, rounds] {
    if (arguments.table == "links" && floats->empty()) arguments.options.floats = kLinksTableFloats;
    if (arguments.table == "blows" && rounds->empty()) arguments.options.rounds = kFaultsTableRounds;
    if (arguments.table == "blows" && arguments.passes > 1) {
      throw CLI::ValidationError("--passes", "each blow strikes a group of its own: give --table blows more --rounds");
    }
  });
  return command;
}

}  // namespace starling::bench
