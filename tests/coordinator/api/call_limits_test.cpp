#include "coordinator/api/call_limits.h"

#include <doctest/doctest.h>

#include "tests/coordinator/api/api_harness.h"

namespace starling::api::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

PeerId member(std::uint8_t number) {
  PeerId peer;
  peer.bytes.fill(number);
  return peer;
}

}  // namespace

TEST_CASE("a member that calls too often waits, its account does when all its computers do, and others never") {
  const TimePoint now{seconds(100)};
  CallLimits limits(7, now, {.member = {3, 1}, .account = {5, 1}, .pieces = {2, 1}});
  for (int i = 0; i < 3; ++i) CHECK(limits.take(member(1), 10, now) == Duration{});
  for (int i = 0; i < 9; ++i) CHECK(limits.take(member(1), 10, now) > Duration{});  // which costs the account nothing
  for (int i = 0; i < 2; ++i) CHECK(limits.take(member(2), 10, now) == Duration{});
  const Duration wait = limits.take(member(3), 10, now);
  CHECK(wait > Duration{});
  CHECK(wait <= seconds(1) + milliseconds(1));
  CHECK(limits.take(member(4), 11, now) == Duration{});
  CHECK(limits.take(member(1), 10, now + milliseconds(2500)) == Duration{});
  for (int i = 0; i < 2; ++i) CHECK(limits.take_piece(member(5), now) == Duration{});
  CHECK(limits.take_piece(member(5), now) > Duration{});
  CHECK(limits.take(member(5), 12, now) == Duration{});
}

TEST_CASE("a flood of calls is answered with 429 and the time to wait, whatever is asked for") {
  TestProject project;
  CallLimits calls(7, project.clock.now(), {.member = {4, 0.01}});
  const Api& own = project.api();
  const Api api{own.project_name,
                own.artefacts,
                own.manifest_public_key_pem,
                own.authority,
                own.stores,
                own.hosts,
                own.denied,
                own.accounts,
                own.joins,
                calls,
                own.run,
                own.checkpoints,
                own.maintenance,
                own.clock};
  gate::Router router;
  add_routes(router, api);
  const auto answer = [&](const std::string& method, const std::string& path, std::optional<PeerId> peer) {
    gate::Request request;
    request.method = method;
    request.path = path;
    request.peer = peer;
    request.remote_address = "192.0.2.7";
    std::string allowed;
    return (*router.find(request, allowed))(request);
  };
  CHECK(answer("GET", "/v1/ca", member(1)).status == 200);
  CHECK(answer("GET", "/v1/status", member(1)).status != 429);
  for (int i = 0; i < 2; ++i) CHECK(answer("POST", "/v1/heartbeat", member(1)).status == 401);  // it never joined
  for (const std::string path : {"/v1/heartbeat", "/v1/unusable-samples", "/v1/team", "/v1/renew"}) {
    const gate::Response refused = answer("POST", path, member(1));
    CHECK(refused.status == 429);
    CHECK(refused.headers.back().first == "Retry-After");
    CHECK(std::stoi(refused.headers.back().second) > 1);
  }
  CHECK(answer("POST", "/v1/heartbeat", member(2)).status == 401);
  CHECK(answer("GET", "/v1/ca", std::nullopt).status == 200);
  CHECK(answer("GET", "/healthz", member(1)).status == 200);
}

}  // namespace starling::api::testing
