#include "client/transport/loss_watch.h"

namespace starling::transport {
namespace {

// Factor on the shortest round trip, and a constant (s) on top of it: variation that needs no queue.
constexpr double kCalm = 1.5;
constexpr double kJitter = 0.005;  // s
// A stream with this share of its window in flight is limited by its window; under a pace less is in flight.
constexpr double kWindowUsed = 0.85;
// A piece waits for its own line, and for the other end's, where it meets others' pieces.
constexpr double kLines = 2;

}  // namespace

LossWatch::Finding LossWatch::note(const TcpCounters& counters, bool backlogged, Duration tick) {
  const bool lost = counters.packets_sent_again > sent_again_;
  sent_again_ = counters.packets_sent_again;
  const double calm_at = kCalm * to_seconds(counters.round_trip_least) + kJitter + kLines * to_seconds(tick);
  const bool calm = to_seconds(counters.round_trip) <= calm_at;
  const bool far = counters.round_trip_least >= kRoundTripMin;
  const bool held_back_before = held_back_;
  held_back_ = backlogged && calm && far && counters.packets_in_flight >= kWindowUsed * counters.window_packets;
  if (!lost) return Finding::nothing;
  if (!calm) return Finding::line_full;
  return held_back_before && backlogged && far ? Finding::held_back : Finding::nothing;
}

}  // namespace starling::transport
