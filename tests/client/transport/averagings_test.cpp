#include "client/transport/averagings.h"

#include <doctest/doctest.h>

#include <array>

#include "tests/support/plain_signer.h"

using namespace starling;
using namespace starling::transport;
using averaging::AveragingOutcome;

namespace {

PeerId peer_of(std::uint8_t number) {
  PeerId peer;
  peer.bytes[0] = number;
  return peer;
}

// Averagings of peer 1, without links: those of one member settle as soon as they begin.
struct Desk {
  Averagings averagings{peer_of(1), [](const PeerId&) -> Link* { return nullptr; }};
  std::array<float, 8> input{1, 2, 3, 4, 5, 6, 7, 8};
  std::array<float, 8> output{};

  AverageRequest request(std::uint8_t id, const std::vector<std::uint8_t>& members = {1}) {
    AverageRequest request;
    request.group.run_id = "test";
    request.group.id.bytes[0] = id;
    request.group.codec = "fp32";
    request.group.vector_floats = 8;
    request.group.segment_floats = 8;
    request.group.begin_within_ms = 1000;
    for (const std::uint8_t number : members) {
      wire::GroupMember member;
      member.endpoint = {.peer = peer_of(number), .host = "192.0.2.1", .port = 4000};
      member.part_floats = number == 1 ? 8 : 0;
      request.group.members.push_back(member);
    }
    request.weight = 1;
    request.input = input;
    request.output = output;
    request.engine.signer = testing::plain_signer(peer_of(1));
    request.done = [](const AveragingOutcome&) {};
    return request;
  }
  std::uint64_t settle(bool gossip) {
    averagings.service(TimePoint{}, gossip);
    const std::vector<Averagings::Settled> settled = averagings.take_settled(gossip);
    REQUIRE(settled.size() == 1);
    CHECK(settled[0].outcome.verdict == AveragingOutcome::Verdict::averaged);
    return settled[0].number;
  }
};

}  // namespace

TEST_CASE("an averaging that has settled is reported once, until it is dropped") {
  Desk desk;
  REQUIRE(check_request(desk.request(1), peer_of(1)).ok());
  desk.averagings.add({}, desk.request(1), false);
  CHECK(desk.averagings.round_is_open());
  CHECK_FALSE(desk.averagings.may_be_followed());
  const std::uint64_t number = desk.settle(false);
  CHECK(number == desk.averagings.round_number());
  CHECK_FALSE(desk.averagings.round_is_open());
  CHECK(desk.averagings.take_settled(false).empty());
  CHECK(desk.averagings.callback_of(number) != nullptr);
  CHECK(desk.averagings.leave({}));
  desk.averagings.drop({});
  CHECK(desk.averagings.callback_of(number) == nullptr);
  CHECK(desk.averagings.round() == nullptr);
  CHECK_FALSE(desk.averagings.leave({}));
}

TEST_CASE("a round that is followed is not reported any more, and ends when the next one is followed") {
  Desk desk;
  desk.averagings.add({}, desk.request(1), false);
  const std::uint64_t first = desk.settle(false);
  REQUIRE(desk.averagings.may_be_followed());
  desk.averagings.add({}, desk.request(2), true);
  CHECK(desk.averagings.callback_of(first) == nullptr);
  CHECK(desk.averagings.round()->request().group.id.bytes[0] == 2);
  const std::uint64_t second = desk.settle(false);
  CHECK(second > first);
  desk.averagings.end_followed();
  CHECK(desk.averagings.round_number() == second);
  desk.averagings.add({}, desk.request(3), true);
  CHECK(desk.averagings.round_is_open());
}

TEST_CASE("gossip goes on beside the round, and each ends alone") {
  Desk desk;
  desk.averagings.add(7, desk.request(1), false);
  desk.averagings.add({}, desk.request(2), false);
  const std::uint64_t gossip = desk.settle(true);
  CHECK(desk.averagings.round_is_open());
  CHECK(desk.averagings.leave({}));
  desk.averagings.drop({});
  CHECK(desk.averagings.callback_of(gossip) != nullptr);
  CHECK_FALSE(desk.averagings.leave(6));
  CHECK(desk.averagings.leave(7));
  desk.averagings.drop(7);
  CHECK(desk.averagings.callback_of(gossip) == nullptr);
}

TEST_CASE("links are wanted with the partners of gossip that has not settled") {
  Desk desk;
  CHECK_FALSE(desk.averagings.take_partners());
  desk.averagings.add(1, desk.request(1, {1, 2}), false);
  desk.averagings.add(2, desk.request(2, {1, 2, 3}), false);
  const auto partners = desk.averagings.take_partners();
  REQUIRE(partners);
  CHECK(partners->peers.size() == 3);
  CHECK(partners->self.peer == peer_of(1));
  CHECK_FALSE(desk.averagings.take_partners());  // nothing has changed
  desk.averagings.drop(2);
  REQUIRE(desk.averagings.take_partners());
  desk.averagings.drop(1);
  CHECK(desk.averagings.take_partners()->peers.empty());
}

TEST_CASE("a request whose plan or vectors do not fit is refused") {
  Desk desk;
  CHECK(check_request(desk.request(1), peer_of(2)).error().code == ErrorCode::invalid_argument);
  AverageRequest request = desk.request(1);
  request.input = request.input.first(7);
  CHECK(check_request(request, peer_of(1)).error().code == ErrorCode::invalid_argument);
  request.input = {};
  CHECK_FALSE(check_request(request, peer_of(1)).ok());
  request.weight = 0;  // it only listens
  CHECK(check_request(request, peer_of(1)).ok());
}
