#include "client/transport/state_donor.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

namespace starling::transport {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kChunkBytes = wire::kStateChunkFloats * sizeof(float);
constexpr double kLine = 1e6;  // bytes/s

// A donor with a state of many chunks, for which two newcomers ask. Links are known by their address only.
struct Donor {
  std::vector<float> floats = std::vector<float>(64 * wire::kStateChunkFloats);
  std::shared_ptr<const StateSnapshot> state = std::make_shared<StateSnapshot>(snapshot_of(3, floats));
  StateDonor donor{[this](RoundIndex, const Digest&) { return state; }, 4};
  std::array<char, 2> links{};
  TimePoint now{seconds(100)};

  const Link* link(std::size_t i) const { return reinterpret_cast<const Link*>(&links[i]); }
  void ask(std::size_t i) {
    wire::StateRequest request{.round = 3, .state_digest = state->digest, .first_chunk = 0, .chunk_count = 64};
    REQUIRE(donor.on_request(link(i), request).ok());
    (void)donor.take_ready();
  }
  bool sends(std::size_t i) {
    FrameToSend frame;
    return donor.next_frame(now, link(i), frame);
  }
};

}  // namespace

TEST_CASE("states wait while a round sends, and go on when it is over, or sends nothing any more") {
  Donor f;
  f.ask(0);
  f.ask(1);
  CHECK(f.sends(0));
  f.donor.round_sends(f.now, kChunkBytes, kLine);
  CHECK_FALSE(f.sends(0));
  CHECK_FALSE(f.sends(1));
  CHECK(f.donor.take_ready().empty());
  f.donor.round_ended();
  CHECK(f.donor.take_ready().size() == 2);
  CHECK(f.sends(0));

  f.donor.round_sends(f.now, kChunkBytes, kLine);
  CHECK_FALSE(f.sends(0));
  f.now += milliseconds(4500);
  f.donor.on_timer(f.now);
  CHECK(f.donor.take_ready().empty());  // a slow line may take this long for a frame
  f.now += seconds(1);
  f.donor.on_timer(f.now);
  CHECK(f.donor.take_ready() == std::vector{f.link(0)});
  CHECK(f.sends(0));
  CHECK(f.donor.next_deadline() == kNever);
}

TEST_CASE("a link waits in the middle of its last chunk, too, for as long as a round sends") {
  Donor f;
  CHECK_FALSE(f.donor.waits(f.now, f.link(0)));
  f.donor.round_sends(f.now, kChunkBytes, kLine);
  CHECK(f.donor.waits(f.now, f.link(0)));  // it no longer has requests
  CHECK(f.donor.waits(f.now, f.link(1)));
  CHECK(f.donor.next_deadline() < kNever);
  f.donor.forget(f.link(1));
  f.now += seconds(3);
  f.donor.round_sends(f.now, kChunkBytes, kLine);
  CHECK(f.donor.take_waiting(f.now) == std::vector{f.link(0)});
  f.donor.round_ended();
  CHECK_FALSE(f.donor.waits(f.now, f.link(0)));
  CHECK(f.donor.take_ready() == std::vector{f.link(0)});
  CHECK(f.donor.next_deadline() == kNever);
}

TEST_CASE("newcomers that wait for a round hear that their donor lives") {
  Donor f;
  f.ask(0);
  f.ask(1);
  f.donor.round_sends(f.now, kChunkBytes, kLine);
  CHECK(f.donor.next_deadline() == kNever);  // no link has been held back
  CHECK_FALSE(f.sends(0));
  CHECK(f.donor.take_waiting(f.now).empty());
  for (int i = 0; i < 3; ++i) {
    const TimePoint told = f.now;
    while (f.now < told + seconds(3)) {
      f.now += milliseconds(500);
      f.donor.round_sends(f.now, 1000, kLine);
    }
    CHECK(f.donor.next_deadline() <= f.now);
    CHECK(f.donor.take_waiting(f.now).size() == 2);
    CHECK(f.donor.take_waiting(f.now).empty());
  }
  CHECK(f.now <= TimePoint(seconds(110)));
}

}  // namespace starling::transport
