#include "tests/bench/calls_bound.h"

#include <algorithm>

namespace starling::bench {
namespace {

double payload_bytes_per_s(const netlab::LinkSpec& line) {
  constexpr double kBytesPerMbit = 1e6 / 8;
  return kPayloadPart * std::min(line.up_mbit, line.down_mbit) * kBytesPerMbit;
}

}  // namespace

double caller_bytes_per_token(const CalledModel& model) {
  return 2.0 * model.active * model.width * model.layers * model.bytes_per_value;
}

double caller_tokens_per_s(const CalledModel& model, const netlab::LinkSpec& line) {
  return payload_bytes_per_s(line) / caller_bytes_per_token(model);
}

double swarm_tokens_per_s(const CalledModel& model, std::span<const netlab::LinkSpec> lines) {
  double sum = 0;
  double longest = 0;
  for (const netlab::LinkSpec& line : lines) {
    sum += payload_bytes_per_s(line);
    longest = std::max(longest, payload_bytes_per_s(line));
  }
  return std::min(sum / 2, sum - longest) / caller_bytes_per_token(model);
}

}  // namespace starling::bench
