// The time that a round takes a given swarm with a given method, before anybody has trained: the batch's computing, the
// averaging as plans would have it (roles.h), and the overheads. Closed forms, exact where nothing jitters and the
// lines carry their stated rates. Pure.
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
// Where computers come and go (departures.h), these times are for places that are taken, while nobody is loading the
// state there:
//   compute    until round_samples of the samples computed are left
//   recovery   the averaging lasts until nobody has departed for recovery_s (recovery_delay_s); so does each stage of a
//              grid
//   samples    the samples left in the end: the unsent rest of a contribution is lost, too
//   mixings    a member that departs is missed until the round ends; nobody waits for it
//
// Gossip between two rounds (gossip_groups.h) goes on beside computing, and nobody waits for it. A volunteer begins a
// meeting with a batch, at least mix_every batches after the one before, and not before that is over; a meeting takes
// the slowest line its part of a small all-reduce, and four round trips. Gossip costs bytes, no time.
//
// Where updates are delayed, the next round's computing goes on beside the averaging, for which the slowest one ends a
// micro-batch twice: before it begins, and before it steps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "shared/swarm/formation_choice.h"
#include "shared/swarm/shares.h"
#include "shared/wire/codec.h"

namespace starling::swarm {

// The facts about a volunteer's computer that matter here.
struct Host {
  Link link;                 // bytes per second
  double samples_per_s = 0;  // above 0
  double delay_s = 0;        // one way, from it to the middle of the network
  double jitter = 0;         // jitter of its batches' times
  double departures_per_s = 0;
};

// The sizes and times by which one way to train differs from another.
struct Method {
  double vector_floats = 0;
  // floats that are averaged in its place, in two averagings (wire/low_rank.h); 0: the vector itself
  double factor_floats = 0;
  double state_bytes = 0;                // bytes that a newcomer loads
  double newcomer_s = 3;                 // time until it has them, and its trainer has started
  double recovery_s = kRecoverySeconds;  // until others have made up for a member that vanishes while they average
  double round_samples = 0;              // samples of all together, between two averagings
  double micro_batch = 1;                // samples that a computer takes at once
  wire::Codec codec = wire::Codec::fp32;
  std::optional<wire::Codec> contribution_codec{};  // none: like codec
  bool error_feedback = false;
  bool grid = false;  // columns and heads (grid_plan.h), which move everything 2 1/2 times, in three stages
  bool delay_parameter_updates = false;
  double gossip_members = 0;  // members of a gossip meeting between rounds; 0: no gossip
  double gossip_share = 1;    // fraction of the meetings in which a volunteer has a partner
  double mix_every = 1;       // micro-batches from one gossip average to the next, at least
  double step_vectors = 0;    // vectors of the model's length that the common step reads and writes
};

// An average round. period_s() tells how its times add up.
struct RoundForecast {
  double compute_s = 0;
  double wait_s = 0;
  double averaging_s = 0;
  double recovery_s = 0;  // time by which it lasts longer because some depart
  double step_s = 0;
  double samples = 0;        // samples that count in the end
  double lost = 0;           // fraction of the samples possible in that time that does not count
  double gossip_s = 0;       // time of one meeting; 0: no gossip
  double gossips_alone = 0;  // fraction of meetings with nobody else
  double bytes_sent = 0;     // bytes of a volunteer in a round, on average, gossip included
  std::size_t left_out = 0;  // computers that could not follow
  bool overlapped = false;   // the next round's computing begins with the averaging
  [[nodiscard]] double period_s() const {
    const double alone_s = averaging_s + recovery_s;
    return step_s + (overlapped ? std::max(compute_s, 2 * wait_s + alone_s) : compute_s + wait_s + alone_s);
  }
};

// Returns the time one way from each of these computers to the middle of the network, from the round trips between it
// and a usual other one. An unknown round trip (0) counts as usual; all are 0 where none is known.
std::vector<double> delays_of(std::span<const double> round_trips_s);

// Predicts a round of at least one host. A host alone needs no averaging.
RoundForecast predict_round(std::span<const Host> hosts, const Method& method);

}  // namespace starling::swarm
