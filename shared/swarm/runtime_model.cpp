#include "shared/swarm/runtime_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "shared/base/upper_median.h"
#include "shared/base/verify.h"
#include "shared/protocol/heartbeat_reply.h"
#include "shared/swarm/departures.h"
#include "shared/swarm/roles.h"
#include "shared/wire/codec.h"

namespace starling::swarm {
namespace {

// Fraction of a line's bytes; the rest are headers of packets, TCP and TLS records.
constexpr double kPayloadShare = 0.94;
constexpr double kRoundTrips = 4;
// Costs of a grid: see columns_expected_s in formation_choice.h.
constexpr double kGridTraffic = 2.5;
constexpr double kGridStages = 3;
// The rate of one core that steps on vectors in memory.
constexpr double kMemoryBytesPerS = 6e9;

// Returns the time until a host in the place of a departed one computes.
double newcomer_s(const Host& host, double usual_upload, const Method& method) {
  const double line = kPayloadShare * std::min(host.link.download, wire::kDonorsMax * usual_upload);
  return method.newcomer_s + method.state_bytes / line;
}

std::vector<Place> places_of(std::span<const Host> hosts, const Method& method) {
  double usual_upload = 0;
  for (const Host& host : hosts) usual_upload += host.link.upload / static_cast<double>(hosts.size());
  std::vector<Place> places;
  for (const Host& host : hosts) {
    places.push_back({host.samples_per_s, host.departures_per_s, newcomer_s(host, usual_upload, method)});
  }
  return places;
}

// Adds the computing time, the samples that are kept when they are averaged, and the time that departures meanwhile add
// to that.
void add_computing(std::span<const Host> hosts, const Method& method, RoundForecast& forecast) {
  const std::vector<Place> places = places_of(hosts, method);
  double samples_per_s = 0;
  double departures_per_s = 0;
  for (const Place& place : places) {
    samples_per_s += place.samples_per_s;
    departures_per_s += place.departures_per_s;
  }
  forecast.compute_s = seconds_to_compute(places, method.round_samples);
  if (std::isinf(forecast.compute_s)) return;
  forecast.samples = method.round_samples * kept(places, forecast.averaging_s);
  forecast.lost = std::max(0.0, 1 - forecast.samples / (samples_per_s * forecast.compute_s));
  if (method.gossip_members > 1) forecast.gossips_alone = 1 - kept(places, forecast.compute_s);
  if (hosts.size() < 2) return;
  // In a stage shorter than recovery_s, only members that depart while it lasts hold up the others: nobody counted on
  // those that departed before.
  const double stages = method.grid ? kGridStages : 1;
  const double before = std::max(0.0, 1 - forecast.averaging_s / stages / method.recovery_s);
  forecast.recovery_s = stages * recovery_delay_s(departures_per_s, method.recovery_s) * (1 - before * before);
}

// The round trip between the two hosts that are farthest apart.
double longest_round_trip(std::span<const Host> hosts) {
  std::vector<double> delays;
  for (const Host& host : hosts) delays.push_back(host.delay_s);
  std::sort(delays.rbegin(), delays.rend());
  return delays.size() < 2 ? 0 : 2 * (delays[0] + delays[1]);
}

double wait_of(std::span<const Host> hosts, double micro_batch) {
  if (hosts.size() < 2) return 0;
  double wait = 0;
  // largest of this number of normal deviations
  const double largest = std::sqrt(2 * std::log(static_cast<double>(hosts.size())));
  for (const Host& host : hosts) {
    wait = std::max(wait, micro_batch / host.samples_per_s * (0.5 + largest * host.jitter));
  }
  return wait;
}

// Adds a meeting's time over the slowest of these lines, and the bytes of all gossip beside the round's computing.
void add_gossips(std::span<const Host> hosts, const Method& method, double bytes_per_float, RoundForecast& forecast) {
  double line = std::numeric_limits<double>::infinity();
  double samples_per_s = 0;
  for (const Host& host : hosts) {
    line = std::min({line, host.link.upload * kPayloadShare, host.link.download * kPayloadShare});
    samples_per_s += host.samples_per_s / static_cast<double>(hosts.size());
  }
  const double members = std::min(method.gossip_members, static_cast<double>(hosts.size()));
  const double bytes = 2 * (members - 1) / members * method.vector_floats * bytes_per_float;
  forecast.gossip_s = bytes / line + kRoundTrips * longest_round_trip(hosts);
  const double batch_s = method.micro_batch / samples_per_s;
  const double batches = std::max(method.mix_every, std::ceil(forecast.gossip_s / batch_s));
  const double gossips = method.gossip_share * (1 - forecast.gossips_alone) * forecast.compute_s / (batch_s * batches);
  forecast.bytes_sent += gossips * bytes;
}

double bytes_sent(const RoleChoice& choice, std::span<const CodecCost> codecs, double floats, double per_result) {
  double sent = 0;
  double members = 0;
  for (const Duty& duty : choice.duties) members += duty.left_out ? 0 : 1;
  for (const Duty& duty : choice.duties) {
    if (duty.left_out) continue;
    const bool contributes = duty.role != wire::MemberRole::auxiliary;
    if (contributes) sent += codecs[duty.codec].bytes_per_float * (1 - duty.share);
    sent += per_result * duty.share * (members - 1);
  }
  return members == 0 ? 0 : sent * floats / members;
}

}  // namespace

std::vector<double> delays_of(std::span<const double> round_trips_s) {
  std::vector<double> known;
  for (const double round_trip_s : round_trips_s) {
    if (round_trip_s > 0) known.push_back(round_trip_s);
  }
  std::vector<double> delays(round_trips_s.size());
  if (known.empty()) return delays;
  // A round trip to the usual one is twice both delays; to itself it would be four times its own.
  const double usual = upper_median(std::move(known)) / 4;
  for (std::size_t i = 0; i < delays.size(); ++i) {
    delays[i] = round_trips_s[i] > 0 ? std::max(0.0, round_trips_s[i] / 2 - usual) : usual;
  }
  return delays;
}

RoundForecast predict_round(std::span<const Host> hosts, const Method& method) {
  VERIFY(!hosts.empty() && method.round_samples > 0);
  RoundForecast forecast;
  forecast.overlapped = method.delay_parameter_updates;
  forecast.step_s = method.step_vectors * method.vector_floats * sizeof(float) / kMemoryBytesPerS;
  if (hosts.size() < 2) {
    add_computing(hosts, method, forecast);
    return forecast;
  }
  std::vector<Volunteer> volunteers;
  for (const Host& host : hosts) {
    const Link link{host.link.upload * kPayloadShare, host.link.download * kPayloadShare, host.link.dialable};
    volunteers.push_back({link, host.samples_per_s});
  }
  const wire::Codec sent_as = method.contribution_codec.value_or(method.codec);
  const std::vector<CodecCost> codecs = narrower_codecs(sent_as, method.error_feedback);
  const bool factors = method.factor_floats > 0;  // few enough for every line: nobody is demoted for them
  RoleOptions options{.vector_floats = factors ? method.factor_floats : method.vector_floats,
                      .target_batch = factors ? 0 : method.round_samples,
                      .codecs = codecs};
  options.result_bytes = narrower_codecs(method.codec, false).front().bytes_per_float;
  options.overhead_s = (factors ? 2 : 1) * kRoundTrips * longest_round_trip(hosts);
  options.may_only_reduce = wire::carries_results(method.codec);
  const RoleChoice choice = choose_roles(volunteers, options);
  std::vector<Host> stay;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    forecast.left_out += choice.duties[i].left_out ? 1 : 0;
    if (choice.duties[i].left_out || choice.duties[i].role == wire::MemberRole::auxiliary) continue;
    stay.push_back(hosts[i]);
  }
  forecast.wait_s = wait_of(stay, method.micro_batch);
  forecast.averaging_s = choice.averaging_s;
  forecast.bytes_sent = bytes_sent(choice, codecs, options.vector_floats, options.result_bytes);
  if (method.grid) {
    forecast.averaging_s = kGridTraffic * (choice.averaging_s - options.overhead_s) + kGridStages * options.overhead_s;
    forecast.bytes_sent *= kGridTraffic;
  }
  add_computing(stay, method, forecast);
  if (method.gossip_members > 1 && stay.size() > 1 && std::isfinite(forecast.compute_s)) {
    add_gossips(stay, method, options.result_bytes, forecast);
  }
  return forecast;
}

}  // namespace starling::swarm
