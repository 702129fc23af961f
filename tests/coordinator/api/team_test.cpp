#include "shared/protocol/team.h"

#include <doctest/doctest.h>

#include "tests/coordinator/api/api_harness.h"

namespace starling::api::testing {
namespace {

// The reply that the volunteer's computer gets.
Result<wire::TeamReply> ask(TestVolunteer& volunteer, const char* action, const char* name = "") {
  auto body = net::body_of(volunteer.send("/v1/team", wire::encode(wire::TeamRequest{action, name})));
  if (!body.ok()) return body.error();
  return wire::decode_team_reply(*body);
}

struct Pair {
  Pair() {
    REQUIRE(first.join(project.invite()).ok());
    REQUIRE(second.join(project.invite()).ok());
  }
  TestProject project;
  TestVolunteer first{project, "Swan"};
  TestVolunteer second{project, "Tern"};
};

}  // namespace

TEST_CASE("volunteers found, join and leave a team") {
  Pair pair;
  CHECK(ask(pair.first, "show")->name.empty());
  const auto founded = ask(pair.first, "found", "Birds");
  REQUIRE(founded.ok());
  CHECK(founded->name == "Birds");
  CHECK(founded->founder == "Swan");
  CHECK(founded->members == 1);
  CHECK(ask(pair.second, "join", "birds")->members == 2);
  CHECK(ask(pair.first, "leave")->name.empty());
  CHECK(ask(pair.second, "show")->members == 1);
}

TEST_CASE("what cannot be done with a team is refused with the reason") {
  Pair pair;
  CHECK(ask(pair.first, "join", "Fish").error().code == ErrorCode::not_found);
  CHECK(ask(pair.first, "leave").error().code == ErrorCode::failed_precondition);
  CHECK(ask(pair.first, "found", "").error().code == ErrorCode::invalid_argument);
  CHECK(ask(pair.first, "sell", "Birds").error().code == ErrorCode::invalid_argument);
  REQUIRE(ask(pair.first, "found", "Birds").ok());
  CHECK(ask(pair.second, "found", "birds").error().code == ErrorCode::already_exists);
  CHECK(pair.first.post("/v1/team", "{") == 400);
}

TEST_CASE("teams are for those who have joined, and not to be asked about without end") {
  Pair pair;
  auto stranger = pair.project.stranger();
  const auto refused = stranger.post_json("/v1/team", wire::encode(wire::TeamRequest{"show"}));
  REQUIRE(refused.ok());
  CHECK(refused->status == 401);
  int asked = 0;
  while (asked < 1000 && ask(pair.first, "show").ok()) ++asked;
  CHECK(asked > 2);
  CHECK(ask(pair.first, "show").error().code == ErrorCode::resource_exhausted);
  CHECK(ask(pair.second, "show").ok());
}

}  // namespace starling::api::testing
