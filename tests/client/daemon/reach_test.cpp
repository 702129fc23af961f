// How others reach a computer, with real links and a real relay on this one.
#include "client/daemon/reach.h"

#include <doctest/doctest.h>

#include <atomic>
#include <optional>

#include "shared/protocol/heartbeat.h"
#include "shared/protocol/heartbeat_reply.h"
#include "tests/client/daemon/played_threads.h"
#include "tests/client/transport/swarm.h"

using namespace starling;
using namespace starling::daemon;
using transport::testing::Member;
using transport::testing::wait_until;

namespace {

// A volunteer's part that is called `reach`. It never asks a router: that is a matter of permission.
struct Computer {
  explicit Computer(const transport::testing::Project& project, bool listens = true)
      : member(project, listens), reach(threads.run, *member.net, [this](TimePoint) { ++changes; }) {
    permission.port_mapping = false;
  }
  ~Computer() { threads.end(); }

  void permit_relaying(double bytes_per_s) {
    permission.relay_bytes_per_s = bytes_per_s;
    threads.on_control([this] { reach.obey(permission); });
  }
  void follow(const wire::HeartbeatReply& reply) {
    threads.on_control([&] { reach.follow(reply); });
  }
  wire::Heartbeat told() {
    wire::Heartbeat heartbeat;
    heartbeat.listen_port = 7;
    threads.on_control([&] { reach.tell(heartbeat); });
    return heartbeat;
  }
  wire::ReachStatus described() {
    wire::ReachStatus status;
    threads.on_control([&] { reach.describe(member.net->stats(), status); });
    return status;
  }

  daemon::testing::PlayedThreads threads;
  Member member;
  Permission permission;
  std::atomic<int> changes{0};
  Reach reach;
};

// The reply to a computer that is to wait for calls at that relay.
wire::HeartbeatReply waits_at(const Computer& relay, const Computer& caller) {
  const wire::Endpoint there = relay.member.endpoint();
  wire::HeartbeatReply reply;
  reply.relaying.at = wire::Endpoint{caller.member.id, there.host, there.port, there.peer};
  return reply;
}

}  // namespace

TEST_CASE("the coordinator hears how much the volunteer permits to relay") {
  const transport::testing::Project project;
  Computer computer(project);
  CHECK(computer.told().relaying.bytes_per_s == 0);
  computer.permit_relaying(1000);
  CHECK(computer.told().relaying.bytes_per_s == 1000);
  CHECK(computer.told().listen_port == 7);  // no router has opened another
  CHECK(computer.told().relaying.posted_at.is_zero());
  computer.permit_relaying(0);
  CHECK(computer.told().relaying.bytes_per_s == 0);
}

TEST_CASE("the volunteer sees whether others can dial this computer once the coordinator has said so") {
  const transport::testing::Project project;
  Computer computer(project);
  computer.permit_relaying(0);
  CHECK(computer.described().reachability != "blocked");
  wire::HeartbeatReply reply;
  reply.seen = {wire::Reachability::blocked, "192.0.2.7"};
  computer.follow(reply);
  CHECK(computer.described().reachability == "blocked");
  CHECK(computer.described().address == "192.0.2.7");
  CHECK(computer.described().mapped_port == 0);
  reply.seen.reachability = wire::Reachability::reachable;
  computer.follow(reply);
  CHECK(computer.described().reachability == "reachable");
}

TEST_CASE("a computer that nobody can dial waits at a relay that serves it, and tells the coordinator") {
  const transport::testing::Project project;
  Computer relay(project);
  Computer caller(project, false);
  relay.permit_relaying(1e9);
  caller.permit_relaying(0);
  wire::HeartbeatReply serve;
  serve.relaying.clients = {caller.member.id};
  serve.relaying.bytes_per_round = 1 << 20;
  relay.follow(serve);
  caller.follow(waits_at(relay, caller));
  wait_until([&] { return caller.told().relaying.posted_at == relay.member.id; });
  wait_until([&] { return caller.changes > 0; });
  CHECK(caller.described().relay == relay.member.id);
  wait_until([&] { return relay.described().clients == 1; });
  caller.follow({});
  CHECK(caller.told().relaying.posted_at.is_zero());
}

TEST_CASE("nothing is relayed without the volunteer's permission, whatever the coordinator says") {
  const transport::testing::Project project;
  Computer relay(project);
  Computer caller(project, false);
  relay.permit_relaying(0);
  caller.permit_relaying(0);
  wire::HeartbeatReply serve;
  serve.relaying.clients = {caller.member.id};
  serve.relaying.bytes_per_round = 1 << 20;
  relay.follow(serve);
  caller.follow(waits_at(relay, caller));
  wait_until([&] { return !caller.described().relay_problem.empty(); });
  CHECK(caller.told().relaying.posted_at.is_zero());
  CHECK(relay.described().clients == 0);
}
