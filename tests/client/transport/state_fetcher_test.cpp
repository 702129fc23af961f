#include "client/transport/state_fetcher.h"
#include "client/transport/state_snapshot.h"
#include "shared/state/state_digest.h"

#include <doctest/doctest.h>

#include <cstring>
#include <numeric>

using namespace starling;
using namespace starling::transport;
using namespace std::chrono_literals;

namespace {

// A state, and memory to fetch it into.
struct Transfer {
  explicit Transfer(std::size_t chunks) : state((chunks - 1) * wire::kStateChunkFloats + 100), out(state.size()) {
    std::iota(state.begin(), state.end(), 1.0F);
    snapshot = snapshot_of(7, state);
  }

  [[nodiscard]] StateFetcher fetcher(std::size_t donors) {
    return {now, {.round = 7, .digest = snapshot.digest, .out = out}, donors};
  }
  [[nodiscard]] wire::StateInfo info() const {
    wire::StateInfo info;
    info.round = 7;
    info.state_digest = snapshot.digest;
    info.state_floats = static_cast<std::int64_t>(state.size());
    info.chunk_digests = snapshot.chunk_digests;
    return info;
  }
  [[nodiscard]] std::span<const std::uint8_t> bytes(std::size_t chunk) const {
    const auto floats = state::chunk_of(std::span(state), chunk);
    return {reinterpret_cast<const std::uint8_t*>(floats.data()), floats.size_bytes()};
  }
  // The donor connects and sends its digests.
  void introduce(StateFetcher& fetcher, StateFetcher::Donor donor) const {
    fetcher.donor_up(now, donor);
    const auto request = fetcher.next_request(now, donor);
    REQUIRE(request.has_value());
    REQUIRE(request->chunk_count == 0);
    REQUIRE(fetcher.on_info(now, donor, info()).ok());
  }
  // All chunks that the donor is asked for now, in order.
  std::vector<std::size_t> asked(StateFetcher& fetcher, StateFetcher::Donor donor) const {
    std::vector<std::size_t> chunks;
    while (const auto request = fetcher.next_request(now, donor)) {
      for (std::size_t i = 0; i < request->chunk_count; ++i) chunks.push_back(request->first_chunk + i);
    }
    return chunks;
  }
  // Lets the donor answer every request, until there are none; `each` passes between chunks.
  void serve(StateFetcher& fetcher, StateFetcher::Donor donor, Duration each) {
    for (auto chunks = asked(fetcher, donor); !chunks.empty(); chunks = asked(fetcher, donor)) {
      for (const std::size_t chunk : chunks) {
        now += each;
        REQUIRE(fetcher.on_chunk(now, donor, chunk, bytes(chunk)).ok());
      }
    }
  }

  std::vector<float> state;
  std::vector<float> out;
  StateSnapshot snapshot;
  TimePoint now{};
};

}  // namespace

TEST_CASE("one honest donor gives the whole state") {
  Transfer transfer(40);
  StateFetcher fetcher = transfer.fetcher(1);
  transfer.introduce(fetcher, 0);
  transfer.serve(fetcher, 0, 1ms);
  REQUIRE(fetcher.outcome().has_value());
  CHECK(fetcher.outcome()->ok());
  CHECK(transfer.out == transfer.state);
  CHECK(fetcher.next_deadline() == kNever);
}

TEST_CASE("donors share the work, and no chunk is asked twice while there are others") {
  Transfer transfer(100);
  StateFetcher fetcher = transfer.fetcher(3);
  std::vector<int> times(100);
  for (StateFetcher::Donor donor = 0; donor < 3; ++donor) {
    transfer.introduce(fetcher, donor);
    for (const std::size_t chunk : transfer.asked(fetcher, donor)) ++times[chunk];
  }
  CHECK(*std::max_element(times.begin(), times.end()) == 1);
  CHECK(std::accumulate(times.begin(), times.end(), 0) >= 3);
}

TEST_CASE("a donor with a false chunk is dropped, and its chunks come from another") {
  Transfer transfer(10);
  StateFetcher fetcher = transfer.fetcher(2);
  transfer.introduce(fetcher, 0);
  transfer.introduce(fetcher, 1);
  const auto asked = transfer.asked(fetcher, 0);
  REQUIRE_FALSE(asked.empty());
  std::vector<std::uint8_t> lie(transfer.bytes(asked[0]).begin(), transfer.bytes(asked[0]).end());
  lie.back() ^= 1;
  CHECK(fetcher.on_chunk(transfer.now, 0, asked[0], lie).error().code == ErrorCode::corrupt);
  CHECK(fetcher.dropped(0));
  CHECK(std::count(transfer.out.begin(), transfer.out.end(), 0.0F) == static_cast<long>(transfer.out.size()));
  transfer.serve(fetcher, 1, 1ms);
  REQUIRE(fetcher.outcome().has_value());
  CHECK(fetcher.outcome()->ok());
  CHECK(transfer.out == transfer.state);
}

TEST_CASE("digests that do not hash to the state's are refused, and a state of another length") {
  Transfer transfer(3);
  for (int lie = 0; lie < 4; ++lie) {
    CAPTURE(lie);
    StateFetcher fetcher = transfer.fetcher(2);
    fetcher.donor_up(transfer.now, 0);
    REQUIRE(fetcher.next_request(transfer.now, 0).has_value());
    wire::StateInfo info = transfer.info();
    if (lie == 0) info.chunk_digests[1].bytes[5] ^= 1;
    if (lie == 1) info.state_floats += 1;
    if (lie == 2) info.round += 1;
    if (lie == 3) info.chunk_digests.pop_back();
    CHECK_FALSE(fetcher.on_info(transfer.now, 0, info).ok());
    CHECK(fetcher.dropped(0));
    CHECK_FALSE(fetcher.outcome().has_value());
  }
}

TEST_CASE("a donor that no longer holds the state is left without blame") {
  Transfer transfer(3);
  StateFetcher fetcher = transfer.fetcher(1);
  fetcher.donor_up(transfer.now, 0);
  REQUIRE(fetcher.next_request(transfer.now, 0).has_value());
  wire::StateInfo info = transfer.info();
  info.state_floats = 0;
  info.chunk_digests.clear();
  CHECK(fetcher.on_info(transfer.now, 0, info).ok());
  REQUIRE(fetcher.outcome().has_value());
  CHECK(fetcher.outcome()->error().code == ErrorCode::unavailable);
}

TEST_CASE("chunks left over from a download that was given up are no lie") {
  Transfer transfer(3);
  StateFetcher fetcher = transfer.fetcher(1);
  fetcher.donor_up(transfer.now, 0);
  REQUIRE(fetcher.next_request(transfer.now, 0).has_value());
  CHECK(fetcher.on_chunk(transfer.now, 0, 1, transfer.bytes(1)).ok());
  REQUIRE(fetcher.on_info(transfer.now, 0, transfer.info()).ok());
  CHECK(fetcher.on_chunk(transfer.now, 0, 2, transfer.bytes(2)).ok());  // not asked for, but true
  CHECK(fetcher.chunks_held() == 1);
  transfer.serve(fetcher, 0, 1ms);
  CHECK(transfer.out == transfer.state);
}

TEST_CASE("a donor that falls silent is dropped at its deadline, not before") {
  Transfer transfer(20);
  StateFetcher fetcher = transfer.fetcher(2);
  transfer.introduce(fetcher, 0);
  transfer.introduce(fetcher, 1);
  const auto asked = transfer.asked(fetcher, 0);
  REQUIRE_FALSE(asked.empty());
  const TimePoint deadline = fetcher.next_deadline();
  CHECK(deadline == transfer.now + 10s);
  fetcher.on_timer(deadline - 1ns);
  CHECK_FALSE(fetcher.dropped(0));
  fetcher.on_timer(deadline);
  CHECK(fetcher.dropped(0));
  transfer.serve(fetcher, 1, 1ms);
  CHECK(transfer.out == transfer.state);
}

TEST_CASE("a donor that was slow from the start is given more time than the floor") {
  Transfer transfer(20);
  StateFetcher fetcher = transfer.fetcher(1);
  transfer.introduce(fetcher, 0);
  const auto asked = transfer.asked(fetcher, 0);
  REQUIRE(asked.size() == 2);
  transfer.now += 8s;
  REQUIRE(fetcher.on_chunk(transfer.now, 0, asked[0], transfer.bytes(asked[0])).ok());
  CHECK(fetcher.next_deadline() == transfer.now + 32s);
}

TEST_CASE("a slow donor that keeps sending is kept, one that only trickles is not") {
  Transfer transfer(20);
  StateFetcher fetcher = transfer.fetcher(1);
  transfer.introduce(fetcher, 0);
  const auto asked = transfer.asked(fetcher, 0);
  REQUIRE_FALSE(asked.empty());
  for (int i = 0; i < 12; ++i) {  // a chunk that takes a minute
    transfer.now += 5s;
    fetcher.on_timer(transfer.now);
    fetcher.bytes_came(transfer.now, 0);
  }
  REQUIRE_FALSE(fetcher.dropped(0));
  REQUIRE(fetcher.on_chunk(transfer.now, 0, asked[0], transfer.bytes(asked[0])).ok());
  const TimePoint start = transfer.now;
  for (int i = 0; i < 40 && !fetcher.dropped(0); ++i) {
    transfer.now += 5s;
    fetcher.on_timer(transfer.now);
    fetcher.bytes_came(transfer.now, 0);
  }
  CHECK(fetcher.dropped(0));
  CHECK(transfer.now - start == 120s);
}

TEST_CASE("a peer that cannot be reached is given up at the connect deadline") {
  Transfer transfer(2);
  StateFetcher fetcher = transfer.fetcher(1);
  CHECK(fetcher.next_deadline() == transfer.now + 15s);
  fetcher.on_timer(transfer.now + 15s);
  REQUIRE(fetcher.outcome().has_value());
  CHECK(fetcher.outcome()->error().message.find("could not be reached") != std::string::npos);
}

TEST_CASE("an idle donor is asked for what the slowest still owes, once") {
  Transfer transfer(4);
  StateFetcher fetcher = transfer.fetcher(3);
  for (StateFetcher::Donor donor = 0; donor < 3; ++donor) transfer.introduce(fetcher, donor);
  const auto slow = transfer.asked(fetcher, 0);
  const auto other = transfer.asked(fetcher, 1);
  REQUIRE(slow.size() + other.size() == 4);
  const auto again = transfer.asked(fetcher, 2);
  REQUIRE(again.size() == 1);
  CHECK(std::find(slow.begin(), slow.end(), again[0]) != slow.end());
  // Both copies arrive: the second one is simply no longer needed.
  CHECK(fetcher.on_chunk(transfer.now, 2, again[0], transfer.bytes(again[0])).ok());
  CHECK(fetcher.on_chunk(transfer.now, 0, again[0], transfer.bytes(again[0])).ok());
  CHECK(fetcher.chunks_held() == 1);
}

TEST_CASE("requests grow on a fast donor and shrink on a slow one") {
  Transfer transfer(200);
  StateFetcher fetcher = transfer.fetcher(2);
  transfer.introduce(fetcher, 0);
  transfer.introduce(fetcher, 1);
  const auto largest_request = [&](StateFetcher::Donor donor, Duration each) {
    std::size_t chunks = 0;
    for (int round = 0; round < 4; ++round) {
      for (const std::size_t chunk : transfer.asked(fetcher, donor)) {
        transfer.now += each;
        REQUIRE(fetcher.on_chunk(transfer.now, donor, chunk, transfer.bytes(chunk)).ok());
      }
      const auto next = fetcher.next_request(transfer.now, donor);
      REQUIRE(next.has_value());
      chunks = next->chunk_count;
      for (std::size_t i = 0; i < chunks; ++i) {
        transfer.now += each;
        REQUIRE(
            fetcher.on_chunk(transfer.now, donor, next->first_chunk + i, transfer.bytes(next->first_chunk + i)).ok());
      }
    }
    return chunks;
  };
  CHECK(largest_request(0, 1ms) == 16);
  CHECK(largest_request(1, 2s) == 1);
}
