// Gradient tracking's textbook problem: peers on a ring, each with a quadratic loss of its own,
//   f_i(x) = Σ_d c_id / 2 (x_d - b_id)²,
// whose sum has one lowest point. Targets b turn once around like the ring does: neighbours want nearly equal values,
// peers opposite each other the opposite, which gossip is slowest to even out. Every gossip is counted, whatever it is
// for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace starling::sim {

enum class TrackingMethod : std::uint8_t {
  d_psgd,             // x ← W x - η g
  gradient_tracking,  // one plain gossip a step
  detag,              // several accelerated gossips a step
};
constexpr TrackingMethod kTrackingMethods[] = {TrackingMethod::d_psgd, TrackingMethod::gradient_tracking,
                                               TrackingMethod::detag};
std::string_view to_string(TrackingMethod method);

struct TrackingSetup {
  TrackingMethod method = TrackingMethod::detag;
  double step = 0.1;  // η
  std::size_t peers = 32;
  int gossips = 4;    // in a step of detag
  int rounds = 3000;  // rounds of gossip
};

// [t]: how far from the lowest point the worst peer is after t gossips (Euclidean); one more than `rounds`. Equal
// arguments give equal errors.
std::vector<double> tracking_errors(const TrackingSetup& setup, std::uint64_t seed);

}  // namespace starling::sim
