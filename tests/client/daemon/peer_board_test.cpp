#include "client/daemon/peer_board.h"

#include <doctest/doctest.h>

#include <cstdint>

using namespace starling;
using namespace starling::daemon;

namespace {

PeerId peer(std::size_t number) {
  PeerId id;
  id.bytes[0] = static_cast<std::uint8_t>(number % 256);
  id.bytes[1] = static_cast<std::uint8_t>(1 + number / 256);
  return id;
}

wire::GroupInfo plan_of(std::size_t members, RoundIndex round) {
  wire::GroupInfo plan;
  plan.round = round;
  plan.vector_floats = 4 * static_cast<std::int64_t>(members);
  for (std::size_t i = 0; i < members; ++i) {
    wire::GroupMember member;
    member.endpoint.peer = peer(i);
    member.part_floats = 4;
    plan.members.push_back(member);
  }
  return plan;
}

}  // namespace

TEST_CASE("of a large group the first members are shown, and this computer") {
  PeerBoard board;
  board.begin_round(plan_of(1000, 7), 999);
  const wire::PeersView view = board.view({});
  CHECK(view.round == 7);
  CHECK(view.members == 1000);
  REQUIRE(view.peers.size() == wire::kPeersShownMax);
  CHECK(view.peers.front().peer == peer(0));
  CHECK(view.peers.front().part == doctest::Approx(0.001));
  CHECK_FALSE(view.peers.front().self);
  CHECK(view.peers.back().peer == peer(999));
  CHECK(view.peers.back().self);
}

TEST_CASE("samples are those of the last finished round, through the round that begins") {
  PeerBoard board;
  board.begin_round(plan_of(2, 1), 0);
  board.end_round({{peer(0), 16}, {peer(1), 24}});
  CHECK(board.view({}).peers[1].samples == 24);
  board.begin_round(plan_of(3, 2), 0);
  CHECK(board.view({}).peers[1].samples == 24);
  CHECK(board.view({}).peers[2].samples == 0);
  board.end_round({{peer(2), 8}});
  CHECK(board.view({}).peers[1].samples == 0);
  CHECK(board.view({}).peers[2].samples == 8);
}

TEST_CASE("members have the speeds of their links, and zeros without one") {
  PeerBoard board;
  board.begin_round(plan_of(2, 1), 0);
  transport::PeerSpeed speed;
  speed.peer = peer(1);
  speed.upload_bytes_per_s = 5e5;
  speed.download_bytes_per_s = 2e6;
  speed.round_trip = std::chrono::milliseconds(30);
  const wire::PeersView view = board.view({&speed, 1});
  CHECK(view.peers[0].download_bytes_per_s == 0);
  CHECK(view.peers[1].upload_bytes_per_s == 5e5);
  CHECK(view.peers[1].download_bytes_per_s == 2e6);
  CHECK(view.peers[1].round_trip_ms == doctest::Approx(30));
}
