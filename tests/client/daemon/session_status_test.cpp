#include "client/daemon/session_status.h"

#include <doctest/doctest.h>

#include <memory>

#include "shared/protocol/heartbeat_reply.h"

using namespace starling;
using namespace starling::daemon;

TEST_CASE("before the coordinator has answered, the status has the session's own figures") {
  session::Session::View view;
  view.activity = {session::Phase::downloading, "the state of round 4", "when it is here"};
  view.state_round = 3;
  view.samples_total = 80;
  wire::DaemonStatus status;
  status.swarm.size = 9;
  describe_session(view, status);
  CHECK(status.phase == wire::DaemonPhase::downloading);
  CHECK(status.reason == "the state of round 4");
  CHECK(status.ends_when == "when it is here");
  CHECK(status.training.round == 3);
  CHECK(status.training.samples_total == 80);
  CHECK(status.swarm.size == 9);  // not the session's to change
}

TEST_CASE("the round is the coordinator's where that is ahead of the replica") {
  session::Session::View view;
  view.state_round = 3;
  wire::HeartbeatReply reply;
  reply.round = 5;
  reply.credited.samples = 640;
  reply.swarm.size = 12;
  view.last_reply = std::make_shared<wire::HeartbeatReply>(reply);
  wire::DaemonStatus status;
  describe_session(view, status);
  CHECK(status.training.round == 5);
  CHECK(status.training.state_round == 3);
  CHECK(status.training.samples_credited == 640);
  CHECK(status.swarm.size == 12);
  view.state_round = 6;
  describe_session(view, status);
  CHECK(status.training.round == 6);
}

TEST_CASE("a trainer that fails again and again is a problem, also between two tries") {
  session::Session::View view;
  view.activity = {session::Phase::training, "", ""};
  wire::DaemonStatus status;
  describe_session(view, status);
  CHECK(status.problems.empty());
  view.trouble = "it has no tensor 'labels'";
  describe_session(view, status);
  CHECK(status.problems == std::vector<std::string>{"the trainer fails: it has no tensor 'labels'"});
}
