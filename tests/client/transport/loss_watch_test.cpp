#include "client/transport/loss_watch.h"

#include <doctest/doctest.h>

using namespace starling;
using namespace starling::transport;
using Finding = LossWatch::Finding;

namespace {

// A stream over a line of 40 ms, observed repeatedly.
struct Stream {
  // The finding after this many more packets had to be sent again.
  Finding look(int sent_again) {
    counters.packets_sent_again += sent_again;
    return watch.note(counters, backlogged, tick);
  }

  TcpCounters counters{.packets_in_flight = 40,
                       .window_packets = 40,
                       .round_trip = std::chrono::milliseconds(42),
                       .round_trip_least = std::chrono::milliseconds(40)};
  bool backlogged = true;
  Duration tick{};
  LossWatch watch;
};

}  // namespace

TEST_CASE("losses on a line with room hold back a stream that uses all of its window") {
  Stream stream;
  CHECK(stream.look(0) == Finding::nothing);
  CHECK(stream.look(1) == Finding::held_back);
  CHECK(stream.look(0) == Finding::nothing);
  CHECK(stream.look(3) == Finding::held_back);
}

TEST_CASE("losses after packets had to wait are a full line's") {
  Stream stream;
  stream.look(0);
  stream.counters.round_trip = std::chrono::milliseconds(120);
  CHECK(stream.look(0) == Finding::nothing);
  CHECK(stream.look(2) == Finding::line_full);
}

TEST_CASE("packets that are sent in ticks wait for each other, and not for a full line") {
  Stream stream;
  stream.counters.round_trip = std::chrono::milliseconds(100);
  stream.look(0);
  CHECK(stream.look(1) == Finding::line_full);
  stream.tick = std::chrono::milliseconds(25);
  stream.look(0);
  CHECK(stream.look(1) == Finding::held_back);
  stream.counters.round_trip = std::chrono::milliseconds(120);
  CHECK(stream.look(1) == Finding::line_full);
}

TEST_CASE("without losses nothing is found, however slow a stream is") {
  Stream stream;
  for (int i = 0; i < 1000; ++i) CHECK(stream.look(0) == Finding::nothing);
}

TEST_CASE("a stream that has little to send, or is paced, loses packets without being held back by that") {
  Stream idle;
  idle.backlogged = false;
  idle.look(0);
  CHECK(idle.look(1) == Finding::nothing);
  Stream paced;
  paced.counters.packets_in_flight = 20;
  paced.look(0);
  CHECK(paced.look(1) == Finding::nothing);
}

TEST_CASE("on a short path a stream makes up for losses by itself") {
  Stream stream;
  stream.counters.round_trip = stream.counters.round_trip_least = std::chrono::microseconds(300);
  stream.look(0);
  CHECK(stream.look(1) == Finding::nothing);
}
