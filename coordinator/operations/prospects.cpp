#include "coordinator/operations/prospects.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "shared/base/words.h"
#include "shared/manifest/algorithms.h"
#include "shared/protocol/heartbeat.h"
#include "shared/run/fragments.h"
#include "shared/run/low_rank.h"
#include "shared/run/model_layout.h"
#include "shared/run/moments.h"
#include "shared/run/round_parts.h"
#include "shared/swarm/gossip_groups.h"
#include "shared/wire/json_reader.h"
#include "shared/wire/json_writer.h"

namespace starling::operations {
namespace {

constexpr double kMbit = 1e6 / 8;
constexpr double kMbitMin = 1e-3;
constexpr double kMbitMax = 1e6;
constexpr double kSamplesPerSMin = 1e-6;
constexpr double kSamplesPerSMax = 1e9;
constexpr double kDelayMsMax = 10'000;
constexpr double kDeparturesPerHMax = 3600;
constexpr double kMuch = 0.5;          // fraction of a round's time
constexpr double kWorthSaying = 0.01;  // smallest fraction of samples, or of gossip exchanges, that is mentioned
constexpr double kGossipsARound = 10;

swarm::Method method_of(const wire::RunManifest& manifest, double round_samples, std::size_t hosts) {
  swarm::Method method;
  method.vector_floats = static_cast<double>(wire::fragment_floats(manifest));
  method.state_bytes =
      static_cast<double>(wire::state_bytes(wire::state_form(manifest), 0, wire::state_size(manifest)));
  method.round_samples = round_samples;
  method.micro_batch = static_cast<double>(manifest.micro_batch_size);
  method.codec = manifest.round.codec;
  method.contribution_codec = manifest.round.contribution_codec;
  if (manifest.round.low_rank > 0) method.factor_floats = static_cast<double>(wire::averaged_floats(manifest));
  method.error_feedback = wire::round_traffic(manifest).narrows_contributions;
  method.grid = manifest.round.averaging.formation == wire::Formation::grid;
  method.delay_parameter_updates = manifest.round.delay_parameter_updates;
  if (wire::gossips(manifest.local)) {
    const swarm::FormationSpec formation = swarm::gossip_formation(*manifest.local->partners, hosts);
    const bool takes_turns = formation.kind == swarm::FormationSpec::Kind::alternating_exponential_ring;
    const bool of_all = formation.kind == swarm::FormationSpec::Kind::one_group;
    const bool in_pairs = formation.sides.empty() || takes_turns;
    method.gossip_members = of_all ? static_cast<double>(hosts) : in_pairs ? 2 : formation.sides.front();
    method.gossip_share = takes_turns ? 0.5 : 1;
    method.mix_every = manifest.local->mix_every;
  }
  // The step reads the gradient and the state, and writes the state.
  method.step_vectors = 1 + 2.0 * (1 + wire::moment_vectors(manifest.optimizer));
  return method;
}

double slowest_upload(std::span<const swarm::Host> hosts) {
  double slowest = std::numeric_limits<double>::infinity();
  for (const swarm::Host& host : hosts) slowest = std::min(slowest, host.link.upload);
  return slowest;
}

std::string reason(const swarm::RoundForecast& round, std::span<const swarm::Host> hosts) {
  if (std::isinf(round.period_s())) return "volunteers depart before a round is full: smaller ones help";
  const auto percent = [&round](double seconds) { return static_cast<int>(100 * seconds / round.period_s() + 0.5); };
  std::string text = fmt::format("computing is {} % of a round", percent(round.compute_s));
  if (round.averaging_s > kMuch * round.period_s()) {
    text = fmt::format("averaging is {} % of a round; the slowest line sends {:g} Mbit/s", percent(round.averaging_s),
                       slowest_upload(hosts) / kMbit);
  } else if (round.wait_s > kMuch * round.period_s()) {
    text = fmt::format("waiting for the last micro-batch is {} % of a round: smaller ones help", percent(round.wait_s));
  }
  if (round.gossip_s > 0) text += fmt::format("; a mixing takes {:.1f} s beside it", round.gossip_s);
  if (round.gossips_alone > kWorthSaying) text += fmt::format(", and {:.0f} % find nobody", 100 * round.gossips_alone);
  if (round.lost > kWorthSaying) text += fmt::format("; {:.0f} % of samples go with who departs", 100 * round.lost);
  if (round.left_out > 0) text += fmt::format("; {} could not follow", round.left_out);
  return text;
}

// Whether gossip exchanges are several steps apart: they then take the place of averagings, and rounds are rare.
bool mixes_seldom(const wire::LocalOptions& local) { return local.mix_every > 1; }

// The samples of all computers between two averagings of a parameter.
double samples_apart(const wire::RunManifest& manifest, double one_step) {
  if (mixes_seldom(*manifest.local)) return manifest.local->mix_every * one_step;
  return static_cast<double>(manifest.target_batch_size) * wire::fragments(manifest);
}

// The gossip partners to predict: those of the composition, then one topology for every other cost.
std::vector<std::optional<wire::GossipPartners>> topologies(const wire::RunManifest& composed, std::size_t hosts) {
  if (!wire::gossips(composed.local)) return {std::nullopt};
  std::vector<std::optional<wire::GossipPartners>> all{composed.local->partners};
  std::set<std::pair<double, double>> costs;
  wire::RunManifest other = composed;
  const auto costs_otherwise = [&](wire::GossipPartners partners) {
    other.local->partners = partners;
    const swarm::Method method = method_of(other, 1, hosts);
    return costs.emplace(method.gossip_members, method.gossip_share).second;
  };
  costs_otherwise(*composed.local->partners);
  for (const wire::GossipPartners partners : all_values<wire::GossipPartners>()) {
    if (costs_otherwise(partners)) all.emplace_back(partners);
  }
  return all;
}

Prospect prospect_of(std::string_view algorithm, const wire::RunManifest& manifest, double round_samples,
                     std::span<const swarm::Host> hosts) {
  Prospect prospect;
  prospect.algorithm = algorithm;
  if (manifest.local) prospect.partners = manifest.local->partners;
  prospect.method = method_of(manifest, round_samples, hosts.size());
  prospect.round = swarm::predict_round(hosts, prospect.method);
  const double samples = prospect.round.samples;
  prospect.samples_per_s = samples / prospect.round.period_s();
  const auto senders = static_cast<double>(hosts.size() - prospect.round.left_out);
  if (samples > 0) prospect.bytes_per_sample = prospect.round.bytes_sent * senders / samples;
  prospect.why = reason(prospect.round, hosts);
  return prospect;
}

}  // namespace

Result<std::vector<swarm::Host>> read_swarm(std::string_view json) {
  STARLING_ASSIGN(const wire::JsonDocument document, wire::JsonDocument::parse(json, kSwarmBytesMax));
  wire::JsonReader root = document.root();
  std::vector<swarm::Host> hosts;
  root.list("hosts", static_cast<std::size_t>(kHostsMax), [&hosts](wire::JsonReader& fields) {
    std::int64_t count = 1;
    double delay_ms = 0;
    double departures_per_h = 0;
    double upload = 0;
    double download = 0;
    swarm::Host host;
    if (fields.present("count")) fields.integer("count", count, 1, kHostsMax);
    fields.number("samples_per_s", host.samples_per_s, kSamplesPerSMin, kSamplesPerSMax);
    fields.number("upload_mbit_s", upload, kMbitMin, kMbitMax);
    fields.number("download_mbit_s", download, kMbitMin, kMbitMax);
    if (fields.present("delay_ms")) fields.number("delay_ms", delay_ms, 0, kDelayMsMax);
    if (fields.present("jitter")) fields.number("jitter", host.jitter, 0, wire::kJitterMax);
    if (fields.present("departures_per_h")) {
      fields.number("departures_per_h", departures_per_h, 0, kDeparturesPerHMax);
    }
    if (fields.present("dialable")) fields.boolean("dialable", host.link.dialable);
    host.link.upload = upload * kMbit;
    host.link.download = download * kMbit;
    host.delay_s = delay_ms / 1000;
    host.departures_per_s = departures_per_h / 3600;
    if (std::ssize(hosts) + count > kHostsMax) {
      fields.refuse("count", fmt::format("makes more than {} hosts", kHostsMax));
    } else if (fields.status().ok()) {
      hosts.insert(hosts.end(), static_cast<std::size_t>(count), host);
    }
  });
  STARLING_TRY(root.status());
  if (hosts.empty()) return Error{ErrorCode::invalid_argument, "hosts is empty: a swarm has at least one computer"};
  return hosts;
}

std::string write_swarm(std::span<const swarm::HostKind> kinds) {
  wire::JsonWriter writer;
  writer.open("", '{');
  writer.open("hosts", '[');
  for (const swarm::HostKind& kind : kinds) {
    writer.open("", '{');
    writer.integer("count", static_cast<std::int64_t>(kind.count));
    writer.number("samples_per_s", std::clamp(kind.host.samples_per_s, kSamplesPerSMin, kSamplesPerSMax));
    writer.number("upload_mbit_s", std::clamp(kind.host.link.upload / kMbit, kMbitMin, kMbitMax));
    writer.number("download_mbit_s", std::clamp(kind.host.link.download / kMbit, kMbitMin, kMbitMax));
    writer.number("delay_ms", kind.host.delay_s * 1000);
    writer.number("jitter", kind.host.jitter);
    writer.number("departures_per_h", std::clamp(kind.host.departures_per_s * 3600, 0.0, kDeparturesPerHMax));
    writer.boolean("dialable", kind.host.link.dialable);
    writer.close('}');
  }
  writer.close(']');
  writer.close('}');
  return std::move(writer.str());
}

std::vector<Prospect> prospects(const wire::RunManifest& manifest, std::span<const swarm::Host> hosts,
                                const ProspectOptions& options) {
  const double one_step = static_cast<double>(manifest.micro_batch_size) * static_cast<double>(hosts.size());
  const auto own = static_cast<double>(manifest.target_batch_size);
  const double apart = manifest.local ? samples_apart(manifest, one_step) : options.local_steps * one_step;
  std::vector<Prospect> all{prospect_of("", manifest, own, hosts)};
  for (const manifest::Algorithm& algorithm : manifest::algorithms()) {
    wire::RunManifest composed = manifest;
    composed.local.reset();
    const wire::RoundOptions plain;
    composed.round = plain;
    composed.round.averaging.group_size = manifest.round.averaging.group_size;
    // With local steps, delays belong to the manifest's own way to train.
    composed.round.delay_parameter_updates = !manifest.local && manifest.round.delay_parameter_updates;
    algorithm.compose(composed);
    if (composed.model.experts.cells != manifest.model.experts.cells) continue;  // it trains other kinds of models
    double samples = manifest.local ? one_step : own;
    if (composed.local) samples = apart / wire::fragments(composed);
    if (composed.local && mixes_seldom(*composed.local)) {
      samples = kGossipsARound * apart;
      composed.local->mix_every = std::max(1, static_cast<int>(apart / one_step));
    }
    std::vector<wire::Codec> codecs{wire::Codec::fp32, wire::Codec::fp16, wire::Codec::int8};
    if (composed.round.codec != plain.codec) codecs = {composed.round.codec};  // it is part of the algorithm
    for (const std::optional<wire::GossipPartners> partners : topologies(composed, hosts.size())) {
      if (composed.local) composed.local->partners = partners;
      for (const wire::Codec codec : codecs) {
        composed.round.codec = codec;
        all.push_back(prospect_of(algorithm.name, composed, samples, hosts));
      }
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Prospect& a, const Prospect& b) { return a.samples_per_s > b.samples_per_s; });
  return all;
}

}  // namespace starling::operations
