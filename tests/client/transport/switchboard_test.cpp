#include "client/transport/switchboard.h"

#include <doctest/doctest.h>

#include "tests/client/transport/swarm.h"

using namespace starling;
using namespace starling::transport;
using namespace starling::transport::testing;

namespace {

wire::Endpoint endpoint(std::uint8_t id, bool dialable) {
  wire::Endpoint endpoint;
  endpoint.peer.bytes[0] = id;
  if (dialable) {
    endpoint.host = "10.0.0.1";
    endpoint.port = 4000;
  }
  return endpoint;
}

}  // namespace

TEST_CASE("of two peers exactly one dials first, unless neither can be dialled") {
  for (const bool low : {false, true}) {
    for (const bool high : {false, true}) {
      CAPTURE(low);
      CAPTURE(high);
      const bool lower_dials = dials_first(endpoint(1, low), endpoint(2, high));
      const bool higher_dials = dials_first(endpoint(2, high), endpoint(1, low));
      CHECK(lower_dials + higher_dials == (low || high ? 1 : 0));
      CHECK(lower_dials == high);  // the lower one, wherever it can dial
    }
  }
}

TEST_CASE("two peers that dial each other at the same moment still average") {
  const Project project;
  std::vector<float> state(300'000, 1.5F);
  const auto snapshot = std::make_shared<const StateSnapshot>(snapshot_of(1, state));
  const StateSource source = [&](RoundIndex, const Digest&) { return snapshot; };
  Members members;
  for (int i = 0; i < 2; ++i) members.push_back(std::make_unique<Member>(project, true, source));
  // Each wants the other's state, so each dials.
  std::vector<std::vector<float>> out(2, std::vector<float>(state.size()));
  std::promise<Status> done[2];
  for (std::size_t i = 0; i < 2; ++i) {
    StateFetch fetch;
    fetch.donors = {members[1 - i]->endpoint()};
    fetch.round = 1;
    fetch.state_digest = snapshot->digest;
    fetch.out = out[i];
    fetch.done = [&done, i](const Status& status) { done[i].set_value(status); };
    REQUIRE(members[i]->net->fetch_state(std::move(fetch)).ok());
  }
  check_exact_round(members, plan_of(members, 500'000));
  for (std::size_t i = 0; i < 2; ++i) {
    auto result = done[i].get_future();
    REQUIRE(result.wait_for(kPatience) == std::future_status::ready);
    CHECK(result.get().ok());
    CHECK((out[i] == state));
  }
  check_exact_round(members, plan_of(members, 500'000, 1));
}
