#include "shared/swarm/runtime_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "shared/base/verify.h"
#include "shared/swarm/roles.h"
#include "shared/wire/codec.h"

namespace starling::swarm {
namespace {

// Of what a line carries: the rest are headers of packets, TCP and TLS records.
constexpr double kPayloadShare = 0.94;
constexpr double kRoundTrips = 4;
// Of a grid: see columns_expected_s in formation_choice.h.
constexpr double kGridTraffic = 2.5;
constexpr double kGridStages = 3;
// Of one core that steps on vectors in memory.
constexpr double kMemoryBytesPerS = 6e9;

// Between the two that are farthest apart.
double longest_round_trip(std::span<const Host> hosts) {
  std::vector<double> delays;
  for (const Host& host : hosts) delays.push_back(host.delay_s);
  std::sort(delays.rbegin(), delays.rend());
  return delays.size() < 2 ? 0 : 2 * (delays[0] + delays[1]);
}

double wait_of(std::span<const Host> hosts, double micro_batch) {
  if (hosts.size() < 2) return 0;
  double wait = 0;
  const double largest = std::sqrt(2 * std::log(static_cast<double>(hosts.size())));  // of so many normal deviations
  for (const Host& host : hosts) {
    wait = std::max(wait, micro_batch / host.samples_per_s * (0.5 + largest * host.jitter));
  }
  return wait;
}

// A mixing's time over the slowest of these lines, and what all mixings beside the round's computing add to its bytes.
void add_mixings(std::span<const Host> hosts, const Method& method, const RoleOptions& options,
                 RoundForecast& forecast) {
  double line = std::numeric_limits<double>::infinity();
  double samples_per_s = 0;
  for (const Host& host : hosts) {
    line = std::min({line, host.link.upload * kPayloadShare, host.link.download * kPayloadShare});
    samples_per_s += host.samples_per_s / static_cast<double>(hosts.size());
  }
  const double members = std::min(method.mixing_members, static_cast<double>(hosts.size()));
  const double bytes = 2 * (members - 1) / members * method.vector_floats * options.result_bytes;
  forecast.mixing_s = bytes / line + options.overhead_s;
  const double batch_s = method.micro_batch / samples_per_s;
  const double batches = std::max(method.mix_every, std::ceil(forecast.mixing_s / batch_s));
  forecast.bytes_sent += method.mixing_share * bytes * forecast.compute_s / (batch_s * batches);
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

RoundForecast predict_round(std::span<const Host> hosts, const Method& method) {
  VERIFY(!hosts.empty() && method.round_samples > 0);
  RoundForecast forecast;
  forecast.overlapped = method.delay_parameter_updates;
  forecast.step_s = method.step_vectors * method.vector_floats * sizeof(float) / kMemoryBytesPerS;
  std::vector<Volunteer> volunteers;
  double samples_per_s = 0;
  for (const Host& host : hosts) {
    const Link link{host.link.upload * kPayloadShare, host.link.download * kPayloadShare, host.link.dialable};
    volunteers.push_back({link, host.samples_per_s});
    samples_per_s += host.samples_per_s;
  }
  forecast.compute_s = method.round_samples / samples_per_s;
  if (hosts.size() < 2) return forecast;
  const std::string& sent_as = method.contribution_codec.empty() ? method.codec : method.contribution_codec;
  const std::vector<CodecCost> codecs = narrower_codecs(sent_as, method.error_feedback);
  RoleOptions options{.vector_floats = method.vector_floats, .target_batch = method.round_samples, .codecs = codecs};
  options.result_bytes = narrower_codecs(method.codec, false).front().bytes_per_float;
  options.overhead_s = kRoundTrips * longest_round_trip(hosts);
  options.may_only_reduce = wire::carries_results(wire::codec_from_name(method.codec).value());
  const RoleChoice choice = choose_roles(volunteers, options);
  std::vector<Host> stay;
  samples_per_s = 0;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    forecast.left_out += choice.duties[i].left_out ? 1 : 0;
    if (choice.duties[i].left_out || choice.duties[i].role == wire::MemberRole::auxiliary) continue;
    stay.push_back(hosts[i]);
    samples_per_s += hosts[i].samples_per_s;
  }
  forecast.compute_s = method.round_samples / samples_per_s;
  forecast.wait_s = wait_of(stay, method.micro_batch);
  forecast.averaging_s = choice.averaging_s;
  forecast.bytes_sent = bytes_sent(choice, codecs, method.vector_floats, options.result_bytes);
  if (method.grid) {
    forecast.averaging_s = kGridTraffic * (choice.averaging_s - options.overhead_s) + kGridStages * options.overhead_s;
    forecast.bytes_sent *= kGridTraffic;
  }
  if (method.mixing_members > 1 && stay.size() > 1) add_mixings(stay, method, options, forecast);
  return forecast;
}

}  // namespace starling::swarm
