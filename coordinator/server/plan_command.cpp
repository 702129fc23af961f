#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/operations/prospects.h"
#include "coordinator/server/commands.h"
#include "coordinator/server/server_link.h"
#include "shared/base/files.h"
#include "shared/base/words.h"
#include "shared/manifest/operator_manifest.h"
#include "shared/plot/bar_plot.h"
#include "shared/wire/json_writer.h"

namespace starling::server {
namespace {

using operations::Prospect;

std::string codecs_of(const swarm::Method& method) {
  const wire::Codec contribution = method.contribution_codec.value_or(method.codec);
  if (contribution == method.codec) return std::string(to_string(method.codec));
  return fmt::format("{} / {}", to_string(contribution), to_string(method.codec));
}

std::string hours_text(double seconds) {
  if (std::isinf(seconds)) return "never";
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  if (seconds < 2 * 3600) return fmt::format("{:.0f} min", seconds / 60);
  return seconds < 48 * 3600 ? fmt::format("{:.1f} h", seconds / 3600) : fmt::format("{:.1f} days", seconds / 86400);
}

std::string name_of(const Prospect& row) {
  const std::string name = row.algorithm.empty() ? "(as it is)" : row.algorithm;
  return row.partners ? fmt::format("{}, {}", name, word_of(*row.partners)) : name;
}

void print_table(const std::vector<Prospect>& rows, double samples) {
  std::size_t widest = 0;
  for (const Prospect& row : rows) widest = std::max(widest, name_of(row).size());
  fmt::print("{:<{}} {:<13} {:>9} {:>9} {:>9} {:>6} {:>10} {:>12} {:>10}  {}\n", "algorithm", widest, "codec",
             "samples", "round", "averaging", "lost", "samples/s", "bytes/sample", "in all", "why");
  for (const Prospect& row : rows) {
    fmt::print("{:<{}} {:<13} {:>9.0f} {:>7.2f} s {:>7.2f} s {:>4.1f} % {:>10.1f} {:>12.0f} {:>10}  {}\n", name_of(row),
               widest, codecs_of(row.method), row.method.round_samples, row.round.period_s(),
               row.round.averaging_s + row.round.recovery_s, 100 * row.round.lost, row.samples_per_s,
               row.bytes_per_sample, hours_text(samples / row.samples_per_s), row.why);
  }
}

void print_json(const std::vector<Prospect>& rows, double samples) {
  wire::JsonWriter writer;
  writer.open("", '{');
  writer.number("samples", samples);
  writer.open("prospects", '[');
  for (const Prospect& row : rows) {
    writer.open("", '{');
    writer.text("algorithm", row.algorithm);
    writer.text("partners", row.partners ? word_of(*row.partners) : "");
    writer.text("codec", to_string(row.method.codec));
    writer.text("contribution_codec", row.method.contribution_codec ? to_string(*row.method.contribution_codec) : "");
    writer.number("round_samples", row.method.round_samples);
    writer.number("compute_s", row.round.compute_s);
    writer.number("wait_s", row.round.wait_s);
    writer.number("averaging_s", row.round.averaging_s);
    writer.number("recovery_s", row.round.recovery_s);
    writer.number("step_s", row.round.step_s);
    writer.number("samples_kept", row.round.samples);
    writer.number("mixings_alone", row.round.gossips_alone);
    writer.number("samples_per_s", row.samples_per_s);
    writer.number("bytes_per_sample", row.bytes_per_sample);
    writer.number("seconds", samples / row.samples_per_s);
    writer.text("why", row.why);
    writer.close('}');
  }
  writer.close(']');
  writer.close('}');
  fmt::print("{}\n", writer.str());
}

// The parts of a round without computing: waiting for others, and averaging.
std::pair<double, double> apart(const swarm::RoundForecast& round) {
  if (!round.overlapped) return {round.wait_s, round.averaging_s + round.recovery_s};
  return {0, round.period_s() - round.compute_s - round.step_s};
}

// A plot of the fastest rows; each bar has the hours that the row takes. Rows that never end are left out.
std::string picture(const std::vector<Prospect>& rows, const PlanAheadOptions& options, std::size_t computers) {
  plot::BarPlot plot;
  plot.title = fmt::format("{:g} samples by {} computers", options.samples, computers);
  plot.x_label = "hours";
  plot.parts = {"computing", "waiting for the last", "averaging", "step"};
  for (const Prospect& row : rows) {
    if (row.samples_per_s == 0) continue;
    const double hours = options.samples / row.round.samples / 3600;
    const auto [wait_s, averaging_s] = apart(row.round);
    plot.bars.push_back({name_of(row) + ", " + codecs_of(row.method),
                         {hours * row.round.compute_s, hours * wait_s, hours * averaging_s, hours * row.round.step_s},
                         hours_text(options.samples / row.samples_per_s)});
  }
  return plot::bar_plot(plot);
}

Result<std::vector<swarm::Host>> hosts_of_file(const std::filesystem::path& file) {
  STARLING_ASSIGN(const std::string json, read_file(file, operations::kSwarmBytesMax));
  auto hosts = operations::read_swarm(json);
  if (!hosts) return hosts.error().prefixed("'" + file.string() + "'");
  return hosts;
}

Result<std::vector<swarm::Host>> hosts_of_run(const std::filesystem::path& folder) {
  STARLING_ASSIGN(const Project project, read_project(folder));
  const auto json = ServerLink(project).get("/swarm.json");
  if (!json) return json.error().prefixed("ask who trains at the moment: is the project being served?");
  auto hosts = operations::read_swarm(*json);
  if (hosts) return hosts;
  return hosts.error().prefixed("what the server tells of its swarm");
}

}  // namespace

Status plan_ahead(const PlanAheadOptions& options) {
  STARLING_ASSIGN(const std::string toml, read_file(options.manifest, manifest::kOperatorManifestBytesMax));
  STARLING_ASSIGN(const manifest::OperatorManifest wanted,
                  manifest::read_operator_manifest(toml, options.manifest.parent_path()));
  const auto hosts = options.from_run.empty() ? hosts_of_file(options.swarm) : hosts_of_run(options.from_run);
  if (!hosts) return hosts.error();
  const std::vector<Prospect> rows =
      operations::prospects(wanted.manifest, *hosts, {.local_steps = static_cast<double>(options.local_steps)});
  if (!options.plot.empty()) STARLING_TRY(write_where_told(options.plot, picture(rows, options, hosts->size())));
  if (options.json) {
    print_json(rows, options.samples);
  } else {
    print_table(rows, options.samples);
    fmt::print(
        "\nTimes are for {:g} samples by {} computers, whoever they teach more: a sample is worth a little less where\n"
        "averagings are rare or codecs narrow. Codecs are of contributions / of results where they differ.\n",
        options.samples, hosts->size());
  }
  return {};
}

}  // namespace starling::server
