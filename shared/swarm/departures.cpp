#include "shared/swarm/departures.h"

#include <cmath>
#include <limits>

namespace starling::swarm {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// Mean speed of a place, over the time that it is empty, too.
double samples_per_s(const Place& place) {
  return place.samples_per_s * std::exp(-place.departures_per_s * place.empty_s);
}

}  // namespace

double kept(double departures_per_s, double seconds) {
  const double departures = departures_per_s * seconds;
  return departures > 0 ? -std::expm1(-departures) / departures : 1;
}

double kept(std::span<const Place> places, double seconds) {
  double all = 0;
  double left = 0;
  for (const Place& place : places) {
    all += place.samples_per_s;
    left += place.samples_per_s * kept(place.departures_per_s, seconds);
  }
  return left / all;
}

double seconds_to_compute(std::span<const Place> places, double samples) {
  constexpr int kStepsMax = 100;
  constexpr double kExact = 1e-12;
  double speed = 0;
  double most = 0;  // the most that they ever have
  for (const Place& place : places) {
    speed += samples_per_s(place);
    most += place.departures_per_s > 0 ? samples_per_s(place) / place.departures_per_s : kInfinite;
  }
  if (most <= samples) return kInfinite;
  double seconds = samples / speed;
  // Their samples grow ever more slowly, so Newton's steps from below never lead too far.
  for (int step = 0; step < kStepsMax; ++step) {
    double there = 0;
    double growth = 0;
    for (const Place& place : places) {
      there += samples_per_s(place) * seconds * kept(place.departures_per_s, seconds);
      growth += samples_per_s(place) * std::exp(-place.departures_per_s * seconds);
    }
    const double more = (samples - there) / growth;
    if (more <= kExact * seconds) break;
    seconds += more;
  }
  return seconds;
}

}  // namespace starling::swarm
