#include "coordinator/core/reach.h"

#include <doctest/doctest.h>

#include "shared/protocol/heartbeat.h"
#include "tests/coordinator/core/swarm_harness.h"

using namespace starling;
using namespace starling::core;
using namespace starling::core::testing;
using namespace std::chrono_literals;

namespace {

constexpr PeerId kNobody{};

wire::Endpoint operator_relay() { return {peer_id(99), "203.0.113.1", 8444}; }

// The options of an operator that serves volunteers behind routers.
CoordinatorOptions on_the_internet() {
  CoordinatorOptions options;
  options.dial_back = true;
  options.relay = operator_relay();
  return options;
}

// Members that call from addresses of their own, and a coordinator that dials them back.
struct Reached {
  explicit Reached(bool dial_back = true, wire::Endpoint relay = {}) {
    options.dial_back = dial_back;
    options.relay = std::move(relay);
  }

  std::optional<wire::Endpoint> call(int number, double offer = 0, const PeerId& posted_at = {}) {
    wire::Heartbeat beat;
    beat.listen_port = 4000;
    beat.relaying.bytes_per_s = offer;
    beat.relaying.posted_at = posted_at;
    Member& member = members.touch(now, {peer_id(number), number, "203.0.113." + std::to_string(100 + number)}, beat);
    return table.on_heartbeat(now, members, member);
  }
  void call_and_test(int number, bool reached, double offer = 0) {
    const auto test = call(number, offer);
    REQUIRE(test.has_value());
    table.on_tested(now, member(number), *test, reached);
    (void)call(number, offer);
  }
  Member& member(int number) { return *members.find(peer_id(number)); }
  [[nodiscard]] PeerId relay_of(int number) {
    return member(number).relay.endpoint ? member(number).relay.endpoint->relay : kNobody;
  }

  CoordinatorOptions options;
  TimePoint now{1h};
  MemberTable members;
  ReachTable table{options};
};

}  // namespace

TEST_CASE("a member is dialled at the address it calls from, once, and believed only then") {
  Reached swarm;
  const auto test = swarm.call(1);
  REQUIRE(test.has_value());
  CHECK(test->peer == peer_id(1));
  CHECK(test->host == "203.0.113.101");
  CHECK(test->port == 4000);
  CHECK_FALSE(swarm.call(1).has_value());
  CHECK_FALSE(wire::dialable(swarm.member(1).endpoint()));

  swarm.table.on_tested(swarm.now, swarm.member(1), *test, true);
  CHECK(swarm.member(1).reach.verdict == wire::Reachability::reachable);
  CHECK(wire::direct(swarm.member(1).endpoint()));
  swarm.now += 20min;
  CHECK_FALSE(swarm.call(1).has_value());
  swarm.now += 20min;
  CHECK(swarm.call(1).has_value());
}

TEST_CASE("another address is another question, and an old answer is none to it") {
  Reached swarm;
  const auto test = swarm.call(1);
  swarm.now += 10s;
  Member& member = swarm.members.touch(swarm.now, {peer_id(1), 1, "198.51.100.7"}, {});
  member.reported.listen_port = 4000;
  const auto moved = swarm.table.on_heartbeat(swarm.now, swarm.members, member);
  REQUIRE(moved.has_value());
  CHECK(moved->host == "198.51.100.7");
  swarm.table.on_tested(swarm.now, member, *test, true);
  CHECK(member.reach.verdict == wire::Reachability::unknown);
}

TEST_CASE("a member that names one port after another has few of them dialled") {
  Reached swarm;
  int dialled = 0;
  for (int second = 0; second < 60; ++second) {
    swarm.now += 1s;
    Member& member = swarm.members.touch(swarm.now, {peer_id(1), 1, "203.0.113.101"}, {});
    member.reported.listen_port = 1 + second;
    dialled += swarm.table.on_heartbeat(swarm.now, swarm.members, member).has_value() ? 1 : 0;
  }
  CHECK(dialled <= 8);
  CHECK(dialled >= 6);
}

TEST_CASE("without dialling back a member's word is taken") {
  Reached swarm(false);
  CHECK_FALSE(swarm.call(1).has_value());
  CHECK(wire::direct(swarm.member(1).endpoint()));
}

TEST_CASE("a member that nobody can dial is sent to the volunteer's relay with the fewest clients") {
  Reached swarm(true, operator_relay());
  swarm.call_and_test(1, true, 1e6);
  swarm.call_and_test(2, true, 1e6);
  swarm.call_and_test(3, true);  // relays for nobody
  for (const int number : {4, 5, 6, 7}) swarm.call_and_test(number, false);
  CHECK(swarm.table.clients_of(peer_id(1)).size() == 2);
  CHECK(swarm.table.clients_of(peer_id(2)).size() == 2);
  // Others call it there once it says that it is there.
  CHECK_FALSE(wire::dialable(swarm.member(4).endpoint()));
  (void)swarm.call(4, 0, swarm.relay_of(4));
  const wire::Endpoint endpoint = swarm.member(4).endpoint();
  CHECK(endpoint.peer == peer_id(4));
  CHECK(endpoint.relay == swarm.relay_of(4));
  CHECK(endpoint.host == swarm.members.find(swarm.relay_of(4))->who.address);
}

TEST_CASE("when no volunteer relays, or all have enough clients, the operator does") {
  Reached swarm(true, operator_relay());
  swarm.call_and_test(1, false);
  CHECK(swarm.relay_of(1) == peer_id(99));
  swarm.call_and_test(2, true, 1e6);
  const int clients = static_cast<int>(wire::kRelayClientsMax);
  for (int number = 10; number < 10 + clients + 3; ++number) swarm.call_and_test(number, false);
  CHECK(swarm.table.clients_of(peer_id(2)).size() == wire::kRelayClientsMax);
  CHECK(swarm.table.clients_of(peer_id(99)).size() == 4);

  Reached without_operator;
  without_operator.call_and_test(1, false);
  CHECK(without_operator.relay_of(1) == kNobody);
}

TEST_CASE("a relay that goes, or cannot be used, is replaced") {
  Reached swarm(true, operator_relay());
  swarm.call_and_test(1, true, 1e6);
  swarm.call_and_test(2, false);
  REQUIRE(swarm.relay_of(2) == peer_id(1));
  swarm.now += 16s;  // it has heard of the relay, and is still not there
  (void)swarm.call(2);
  CHECK(swarm.relay_of(2) == peer_id(99));

  swarm.call_and_test(3, false);
  REQUIRE(swarm.relay_of(3) == peer_id(1));
  (void)swarm.call(3, 0, peer_id(1));
  swarm.now += 1min;
  (void)swarm.call(3, 0, peer_id(1));
  CHECK(swarm.relay_of(3) == peer_id(1));  // it is there: nothing changes
  (void)swarm.call(1, 0);                  // the volunteer relays no more
  (void)swarm.call(3);
  CHECK(swarm.relay_of(3) == peer_id(99));
}

TEST_CASE("volunteers that let nobody into their relays do not keep a member from the operator's") {
  Reached swarm(true, operator_relay());
  for (const int liar : {1, 2, 3, 4}) swarm.call_and_test(liar, true, 1e6);
  swarm.call_and_test(5, false);
  int tried = 1;
  for (; swarm.relay_of(5) != peer_id(99) && tried < 10; ++tried) {
    swarm.now += 16s;
    (void)swarm.call(5);
  }
  CHECK(tried == 3);
  swarm.now += 16s;
  (void)swarm.call(5, 0, peer_id(99));  // it got in there, and stays
  CHECK(swarm.relay_of(5) == peer_id(99));
}

TEST_CASE("members of the run, and nobody else, may pass something through the operator's relay") {
  Swarm swarm(small_manifest(), running_run(), on_the_internet());
  swarm.add(1).dialable = false;
  swarm.add(2);
  swarm.add(3);
  swarm.run_for(10s);
  REQUIRE(swarm.coordinator->uses_operator_relay(peer_id(1)));
  const auto share = swarm.coordinator->operator_relay_share(peer_id(2), peer_id(1));
  REQUIRE(share.has_value());
  CHECK(share->bytes_max > 0);
  CHECK(share->round == swarm.coordinator->view(swarm.now).round);
  CHECK_FALSE(swarm.coordinator->operator_relay_share(peer_id(2), peer_id(3)).has_value());  // they need no relay
  CHECK_FALSE(swarm.coordinator->operator_relay_share(peer_id(1), peer_id(50)).has_value());
}

TEST_CASE("a swarm that nobody can dial averages at the relay, in groups that it has room for") {
  CoordinatorOptions options = on_the_internet();
  options.plans.relayed_members_max = 4;
  Swarm swarm(small_manifest(), running_run(), options);
  for (int number = 1; number <= 6; ++number) swarm.add(number).dialable = false;
  swarm.run_for(60s);
  REQUIRE(swarm.decided.size() >= 5);
  std::size_t members = 0;
  for (const auto& [key, samples] : swarm.ledger) members += key.first == swarm.decided.back().round ? 1 : 0;
  CHECK(members == 4);
  CHECK(swarm.coordinator->view(swarm.now).relayed == 6);
}

TEST_CASE("a group that is drawn from many has somebody who can be dialled") {
  CoordinatorOptions options = on_the_internet();
  options.plans.group_members_max = 3;
  Swarm swarm(small_manifest(), running_run(), options);
  for (int number = 1; number <= 12; ++number) swarm.add(number).dialable = number == 7;
  swarm.run_for(60s);
  REQUIRE(swarm.decided.size() >= 5);
  for (const RoundDecided& round : swarm.decided) {
    if (round.round < 3) continue;  // before everybody has been dialled
    CHECK(swarm.ledger.contains({round.round, peer_id(7)}));
  }
}
