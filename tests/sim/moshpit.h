// Averaging by many group rounds, as numbers only: how fast the values of N peers converge, for each way of forming
// groups and each rate of failures in a round. The product's code forms the groups (shared/swarm).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace starling::sim {

enum class AveragingMethod : std::uint8_t {
  all_reduce,  // everybody in one group; a round in which anybody fails is lost
  gossip,      // the mean of a group's number of neighbours on a ring
  random_groups,
  moshpit,
  planned_grid,
};
constexpr AveragingMethod kAveragingMethods[] = {AveragingMethod::all_reduce, AveragingMethod::gossip,
                                                 AveragingMethod::random_groups, AveragingMethod::moshpit,
                                                 AveragingMethod::planned_grid};
std::string_view to_string(AveragingMethod method);

struct AveragingSetup {
  AveragingMethod method = AveragingMethod::planned_grid;
  std::size_t peers = 1024;
  std::vector<std::uint32_t> sides{32, 32};  // sides of the grid; sides[0] is the size of groups where there is no grid
  double failure_rate = 0;                   // chance of each peer to miss a round: it keeps its value and comes back
  int rounds = 50;
};

// Values are drawn from the normal distribution. [t]: their mean square distance from their average after t rounds, as
// a fraction of that at the beginning; one more than `rounds`. Equal arguments give equal numbers. on_round, if there
// is one, is called after each round.
std::vector<double> averaging_errors(const AveragingSetup& setup, std::uint64_t seed,
                                     const std::function<void()>& on_round = {});

struct AveragingCurve {
  AveragingSetup setup;
  std::vector<double> errors;  // means over the repetitions
  double rounds_to_goal = 0;   // mean; a repetition that never got there counts as setup.rounds
  int never = 0;               // the number of repetitions that did not
};
AveragingCurve averaging_curve(const AveragingSetup& setup, int repetitions, std::uint64_t first_seed, double goal,
                               const std::function<void()>& on_round = {});

}  // namespace starling::sim
