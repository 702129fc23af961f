// How long a round of a given way to train takes a given swarm, before anybody has trained: the batch's computing, the
// averaging as plans would have it (roles.h), and what comes beside. Closed forms, exact where nothing jitters and the
// lines carry what they are said to. Pure.
//
//   compute    round_samples / sum of the computers' speeds
//   wait       the last of n computers ends its micro-batch: at most one of them, half of the slowest one's on average,
//              and with batches that vary by `jitter` (standard deviation over mean) the largest of n deviations more,
//              sqrt(2 ln n) of them
//   averaging  the least time of a butterfly all-reduce over these lines with the best roles and codecs, 94 % of a line
//              being payload, and four round trips between the farthest two: to begin, until paces are up, for the
//              first segment to its owner and back, and to agree at the end (starling-bench plan-check holds it to
//              that)
//   step       the optimizer's way through memory
//
// Where computers come and go (departures.h), all of that is of places that somebody has, for as long as nobody is
// loading the state there:
//   compute    until round_samples are left of what is computed
//   recovery   the averaging lasts until for that long nobody has departed (recovery_delay_s); so does each stage of a
//              grid
//   samples    what is left in the end: what of a contribution has not been sent is lost, too
//   mixings    whoever departs is missed until the round ends; nobody waits for that
//
// Mixings between two rounds (mixing_groups.h) go on beside computing, and nobody waits for them: a volunteer begins
// one with a batch, so many batches after the one before and not before that is over, which takes the slowest line its
// part of a small all-reduce, and four round trips. They cost bytes, no time.
//
// Where updates are delayed, the next round's computing goes on beside the averaging, for which the slowest one ends a
// micro-batch twice: before it begins, and before it steps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "shared/swarm/formation_choice.h"
#include "shared/swarm/shares.h"

namespace starling::swarm {

// A volunteer's computer as far as it matters here.
struct Host {
  Link link;                 // bytes per second
  double samples_per_s = 0;  // above 0
  double delay_s = 0;        // from it to the middle of the network, one way
  double jitter = 0;         // of its batches' times
  double departures_per_s = 0;
};

struct Method {
  double vector_floats = 0;
  double factor_floats = 0;  // that are averaged in its place, in two averagings (wire/low_rank.h); 0: it is itself
  double state_bytes = 0;    // that a newcomer loads
  double newcomer_s = 3;     // until it does, and its trainer has started
  double recovery_s = kRecoverySeconds;  // until others have made up for who vanishes while they average
  double round_samples = 0;              // of all together, between two averagings
  double micro_batch = 1;                // samples that a computer takes at once
  std::string codec = "fp32";
  std::string contribution_codec{};  // empty: as codec
  bool error_feedback = false;
  bool grid = false;  // columns and heads (grid_plan.h), which move everything 2 1/2 times, in three stages
  bool delay_parameter_updates = false;
  double mixing_members = 0;  // that mix between rounds; 0: nobody does
  double mixing_share = 1;    // of mixings, in which a volunteer has a partner
  double mix_every = 1;       // micro-batches from one mixing to the next, at least
  double step_vectors = 0;    // vectors as long as the model that the common step reads and writes
};

struct RoundForecast {
  double compute_s = 0;
  double wait_s = 0;
  double averaging_s = 0;
  double recovery_s = 0;  // that it lasts longer because some depart
  double step_s = 0;
  double samples = 0;        // that count in the end
  double lost = 0;           // the share of what the computers could have computed in that time that does not
  double mixing_s = 0;       // one of them; 0: nobody mixes
  double mixings_alone = 0;  // the share of them that finds nobody
  double bytes_sent = 0;     // by a volunteer in a round, on average, mixings included
  std::size_t left_out = 0;  // computers that could not follow
  bool overlapped = false;   // the next round's computing begins with the averaging
  [[nodiscard]] double period_s() const {
    const double alone_s = averaging_s + recovery_s;
    return step_s + (overlapped ? std::max(compute_s, 2 * wait_s + alone_s) : compute_s + wait_s + alone_s);
  }
};

// One way from each of these computers to the middle of the network, of the round trips from it to a usual other one.
// Where those are 0, not known, it is as usual; all are 0 where none is known.
std::vector<double> delays_of(std::span<const double> round_trips_s);

// Of at least one host. Nobody needs an averaging alone.
RoundForecast predict_round(std::span<const Host> hosts, const Method& method);

}  // namespace starling::swarm
