#include "tests/sim/step_time_command.h"

#include <fmt/format.h>

#include <vector>

#include "shared/base/files.h"
#include "tests/plots/dot_plot.h"
#include "tests/sim/step_recurrences.h"
#include "tests/sim/step_time.h"

namespace starling::sim {
namespace {

struct Setting {
  std::string name;
  StepTimeSetup setup;
};

std::vector<Setting> calm_settings() {
  std::vector<Setting> settings;
  for (const double communication_ms : {25.0, 50.0, 100.0, 200.0}) {
    StepTimeSetup setup;
    setup.all_reduce_ms = setup.gossip_ms = communication_ms;
    settings.push_back({fmt::format("communication {} ms", communication_ms), setup});
  }
  return settings;
}

std::vector<Setting> jittering_settings() {
  StepTimeSetup setup;
  setup.all_reduce_ms = setup.gossip_ms = 1;
  std::vector<Setting> settings;
  for (const std::size_t workers : {16, 64, 1024, 4096}) {
    setup.workers = workers;
    setup.jitter = 0.2;
    settings.push_back({fmt::format("{} workers, jitter 20 %", workers), setup});
  }
  setup.workers = 1024;
  setup.jitter = 0.05;
  setup.straggler_rate = 0.01;
  settings.push_back({"1024 workers, 1 % of steps take 5 times", setup});
  return settings;
}

// The paper's cluster of A40: hosts of four, 25 Gbit/s between them, 260 MB of gradients. The time of computing is the
// one figure that is fitted, to the 16 GPUs' all-reduce.
std::vector<Setting> cluster_settings() {
  constexpr double kBytes = 260e6, kBytesPerS = 25e9 / 8;
  std::vector<Setting> settings;
  for (const std::size_t workers : {16, 32}) {
    StepTimeSetup setup;
    setup.workers = workers;
    setup.all_reduce_ms = setup.gossip_ms = 1000 * ring_all_reduce_s(workers, kBytes, kBytesPerS, 0);
    setup.topology = {swarm::FormationSpec::Kind::one_group, {}};
    settings.push_back({fmt::format("{} A40, everybody mixes with everybody", workers), setup});
  }
  return settings;
}

struct Row {
  Setting setting;
  StepTime simulated;
};

std::vector<Row> compute(const std::vector<Setting>& settings, std::uint64_t seed) {
  std::vector<Row> rows;
  for (const Setting& setting : settings) rows.push_back({setting, step_time(setting.setup, seed)});
  return rows;
}

void print_table(const std::vector<Row>& rows) {
  fmt::print("\n| ms a step | all-reduce | decentralized | times faster | without jitter, in closed form |\n");
  fmt::print("|---|---|---|---|---|\n");
  for (const Row& row : rows) {
    const StepTime closed = undisturbed_step_time(row.setting.setup);
    fmt::print("| {} | {:.1f} | {:.1f} | {:.2f} | {:.1f}, {:.1f} |\n", row.setting.name, row.simulated.all_reduce_ms,
               row.simulated.decentralized_ms, row.simulated.all_reduce_ms / row.simulated.decentralized_ms,
               closed.all_reduce_ms, closed.decentralized_ms);
  }
}

plot::DotPanel panel_of(const std::string& title, const std::vector<Row>& rows) {
  plot::DotPanel panel{title, "ms a step", false, 0, {}};
  for (const Row& row : rows) {
    panel.rows.push_back(
        {row.setting.name,
         {{"all-reduce", {row.simulated.all_reduce_ms}}, {"decentralized", {row.simulated.decentralized_ms}}},
         {}});
  }
  return panel;
}

}  // namespace

Status run_step_time(const StepTimeArguments& arguments) {
  const std::vector<Row> calm = compute(calm_settings(), arguments.seed);
  const std::vector<Row> jittering = compute(jittering_settings(), arguments.seed);
  const std::vector<Row> cluster = compute(cluster_settings(), arguments.seed);
  for (const std::vector<Row>* rows : {&calm, &jittering, &cluster}) print_table(*rows);
  if (arguments.plot_file.empty()) return {};
  const std::string svg = plot::dot_plot(
      "How long a step takes",
      {panel_of("computing 100 ms, a third of it forward", calm),
       panel_of("computing 100 ms with jitter, communication 1 ms, pairs on the exponential graph", jittering),
       panel_of("hosts of four GPUs on 25 Gbit/s, 260 MB", cluster)});
  return write_file_atomically(arguments.plot_file, svg);
}

}  // namespace starling::sim
