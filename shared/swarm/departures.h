// What a swarm computes whose computers come and go. Each departs so often, whatever it is doing (a Poisson process),
// and what it has computed toward the round is lost with it; another one like it comes in its place, which begins at
// zero, and for so long the place is empty. Of what is computed in t seconds a share
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

// Of what one computes in so many seconds, or of what takes it so long to send, the share that is left; 1 where nobody
// departs.
double kept(double departures_per_s, double seconds);
// The same of all of them, by how fast each is.
double kept(std::span<const Place> places, double seconds);

// Until all together have so many samples: t where the sum of speed x exp(-departures_per_s empty_s) x t x kept(t) is
// `samples`. Infinite where they depart too soon for that to be ever so many.
double seconds_to_compute(std::span<const Place> places, double samples);

}  // namespace starling::swarm
