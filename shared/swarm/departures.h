// The computing of a swarm whose computers come and go. Each departs at a rate, whatever it is doing (a Poisson
// process), and its samples toward the round are lost with it; another one like it takes its place, which begins at
// zero, and the place is empty for a time. The fraction of the samples of t seconds
//
//   kept(t) = (1 - exp(-departures_per_s t)) / (departures_per_s t)
//
// is still there in the end: the mean time since the last departure, or since the beginning, over t. Closed forms of
// our own; starling-sim departures holds them to a swarm whose volunteers are killed. Pure.
#pragma once

#include <span>

namespace starling::swarm {

// A computer's place in the swarm.
struct Place {
  double samples_per_s = 0;
  double departures_per_s = 0;
  double empty_s = 0;  // after each departure
};

// Returns the fraction that is kept of one computer's samples of that many seconds, or of a vector that takes it that
// long to send; 1 where nobody departs.
double kept(double departures_per_s, double seconds);
// Returns the fraction for all of them, weighted by speed.
double kept(std::span<const Place> places, double seconds);

// Returns the time until all together have this number of samples: t where the sum of speed x exp(-departures_per_s
// empty_s) x t x kept(t) is `samples`. Infinite where they depart too soon ever to have it.
double seconds_to_compute(std::span<const Place> places, double samples);

}  // namespace starling::swarm
