#include <fmt/core.h>

#include "coordinator/operations/prospects.h"
#include "coordinator/server/commands.h"
#include "shared/base/files.h"
#include "shared/manifest/operator_manifest.h"
#include "shared/wire/json_writer.h"

namespace starling::server {
namespace {

using operations::Prospect;

std::string codecs_of(const swarm::Method& method) {
  const bool one = method.contribution_codec.empty() || method.contribution_codec == method.codec;
  return one ? method.codec : method.contribution_codec + " / " + method.codec;
}

std::string hours_text(double seconds) {
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  if (seconds < 2 * 3600) return fmt::format("{:.0f} min", seconds / 60);
  return seconds < 48 * 3600 ? fmt::format("{:.1f} h", seconds / 3600) : fmt::format("{:.1f} days", seconds / 86400);
}

void print_table(const std::vector<Prospect>& rows, double samples) {
  fmt::print("{:<14} {:<13} {:>9} {:>9} {:>9} {:>10} {:>12} {:>10}  {}\n", "algorithm", "codec", "samples", "round",
             "averaging", "samples/s", "bytes/sample", "in all", "why");
  for (const Prospect& row : rows) {
    fmt::print("{:<14} {:<13} {:>9.0f} {:>7.2f} s {:>7.2f} s {:>10.1f} {:>12.0f} {:>10}  {}\n",
               row.algorithm.empty() ? "(as it is)" : row.algorithm, codecs_of(row.method), row.method.round_samples,
               row.round.period_s(), row.round.averaging_s, row.samples_per_s, row.bytes_per_sample,
               hours_text(samples / row.samples_per_s), row.why);
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
    writer.text("codec", row.method.codec);
    writer.text("contribution_codec", row.method.contribution_codec);
    writer.number("round_samples", row.method.round_samples);
    writer.number("compute_s", row.round.compute_s);
    writer.number("wait_s", row.round.wait_s);
    writer.number("averaging_s", row.round.averaging_s);
    writer.number("step_s", row.round.step_s);
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

}  // namespace

Status plan_ahead(const PlanAheadOptions& options) {
  STARLING_ASSIGN(const std::string toml, read_file(options.manifest, manifest::kOperatorManifestBytesMax));
  STARLING_ASSIGN(const manifest::OperatorManifest wanted,
                  manifest::read_operator_manifest(toml, options.manifest.parent_path()));
  STARLING_ASSIGN(const std::string json, read_file(options.swarm, operations::kSwarmBytesMax));
  auto hosts = operations::read_swarm(json);
  if (!hosts) return hosts.error().prefixed("'" + options.swarm.string() + "'");
  const std::vector<Prospect> rows =
      operations::prospects(wanted.manifest, *hosts, {.local_steps = static_cast<double>(options.local_steps)});
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
