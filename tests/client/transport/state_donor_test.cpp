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
  explicit Donor(const DonationLimits& limits = {})
      : donor([this](RoundIndex, const Digest&) { return state; }, 4, limits) {}

  std::vector<float> floats = std::vector<float>(64 * wire::kStateChunkFloats);
  std::shared_ptr<const StateSnapshot> state = std::make_shared<StateSnapshot>(snapshot_of(3, floats));
  StateDonor donor;
  std::array<char, 2> links{};
  TimePoint now{seconds(100)};

  const Link* link(std::size_t i) const { return reinterpret_cast<const Link*>(&links[i]); }
  static PeerId peer(std::size_t i) { return {{static_cast<std::uint8_t>(i + 1)}}; }
  void ask(std::size_t i) {
    wire::StateRequest request{.round = 3, .state_digest = state->digest, .first_chunk = 0, .chunk_count = 64};
    REQUIRE(donor.on_request(now, link(i), peer(i), request).ok());
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

TEST_CASE("a peer that the coordinator has not named yet waits for that, hears a sign of life, and is served then") {
  Donor f;
  f.donor.require_names(true);
  const wire::StateRequest question{.round = 3, .state_digest = f.state->digest};
  const auto told = f.donor.on_request(f.now, f.link(0), Donor::peer(0), question);
  REQUIRE(told.ok());
  CHECK_FALSE(told->has_value());
  CHECK(f.donor.take_unnamed());
  CHECK_FALSE(f.donor.take_unnamed());
  CHECK(f.donor.take_answers(f.now).empty());
  f.now += seconds(3);
  CHECK(f.donor.next_deadline() <= f.now);
  CHECK(f.donor.take_waiting(f.now) == std::vector{f.link(0)});
  CHECK(f.donor.take_waiting(f.now).empty());
  f.donor.name(f.now, std::vector{Donor::peer(0)});
  const auto answers = f.donor.take_answers(f.now);
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].link == f.link(0));
  CHECK(answers[0].info.state_floats == static_cast<std::int64_t>(f.floats.size()));
  CHECK(f.donor.next_deadline() == kNever);
  f.ask(0);
  CHECK(f.sends(0));
}

TEST_CASE("a peer that nobody names gets no state: not after a while, and not by asking for chunks at once") {
  Donor f;
  f.donor.require_names(true);
  const wire::StateRequest question{.round = 3, .state_digest = f.state->digest};
  (void)f.donor.on_request(f.now, f.link(0), Donor::peer(0), question);
  f.ask(0);
  CHECK_FALSE(f.sends(0));
  f.now += StateDonor::kNameWithin;
  CHECK(f.donor.next_deadline() <= f.now);
  const auto answers = f.donor.take_answers(f.now);
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].info.state_floats == 0);
  (void)f.donor.on_request(f.now, f.link(1), Donor::peer(1), question);
  f.donor.forget(f.link(1));
  CHECK(f.donor.next_deadline() == kNever);
}

TEST_CASE("a peer that has had its share of the day is told that the state is not here, and another is served") {
  Donor f({.downloads_per_day = 2, .bytes_per_day_min = 0});
  for (int i = 0; i < 2; ++i) {
    f.ask(0);
    for (int chunk = 0; chunk < 64; ++chunk) REQUIRE(f.sends(0));
  }
  f.ask(0);
  CHECK_FALSE(f.sends(0));
  f.ask(1);
  CHECK(f.sends(1));
  f.donor.forget(f.link(1));  // the chunks that it did not get are not counted
  f.ask(1);
  CHECK(f.sends(1));
  f.now += std::chrono::hours(25);
  f.ask(0);
  CHECK(f.sends(0));
}

}  // namespace starling::transport
