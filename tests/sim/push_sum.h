// Push-sum's textbook problems: the mean of everybody's vector over lines that carry one way only, each peer heard by
// three others, so that some hear more than others. Once with messages that get lost, once with three bits a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace starling::sim {

enum class PushSumMethod : std::uint8_t {
  running_sums,  // swarm::PushSum
  plain_shares,  // push-sum without memory: a lost message is lost mass
  naive,         // everybody becomes the mean of what it hears and its own
  differences,   // swarm::QuantizedPushSum
  direct,        // push-sum of quantized values, each peer keeping its rounding error
};
std::string_view to_string(PushSumMethod method);

struct PushSumSetup {
  PushSumMethod method = PushSumMethod::running_sums;
  std::size_t peers = 32;
  std::size_t dims = 64;
  double loss_rate = 0;  // chance of each message to get lost
  int bits = 3;          // bits of a value, where they are quantized
  int rounds = 500;
};

// Values come from the normal distribution. [t]: the largest error of anybody's value after t rounds; one more than
// `rounds`. Equal arguments give equal errors. Quantized methods need lines that lose nothing.
std::vector<double> push_sum_errors(const PushSumSetup& setup, std::uint64_t seed);

}  // namespace starling::sim
