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

#include "shared/swarm/shares.h"

namespace starling::swarm {

// A volunteer's computer as far as it matters here.
struct Host {
  Link link;                 // bytes per second
  double samples_per_s = 0;  // above 0
  double delay_s = 0;        // from it to the middle of the network, one way
  double jitter = 0;         // of its batches' times
};

struct Method {
  double vector_floats = 0;
  double round_samples = 0;  // of all together, between two averagings
  double micro_batch = 1;    // samples that a computer takes at once
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
  double step_s = 0;
  double mixing_s = 0;       // one of them; 0: nobody mixes
  double bytes_sent = 0;     // by a volunteer in a round, on average, mixings included
  std::size_t left_out = 0;  // computers that could not follow
  bool overlapped = false;   // the next round's computing begins with the averaging
  [[nodiscard]] double period_s() const {
    const double apart_s = 2 * wait_s + averaging_s;
    return step_s + (overlapped ? std::max(compute_s, apart_s) : compute_s + wait_s + averaging_s);
  }
};

// Of at least one host. Nobody needs an averaging alone.
RoundForecast predict_round(std::span<const Host> hosts, const Method& method);

}  // namespace starling::swarm
