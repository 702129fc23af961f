#include "client/session/replica.h"

#include <doctest/doctest.h>

#include "tests/client/session/session_fixture.h"

using namespace starling;
using namespace starling::session;
using Verdict = Replica::Verdict;
using FetchEnd = Replica::FetchEnd;

namespace {

wire::HeartbeatReply names(RoundIndex round, const Digest& state) {
  wire::HeartbeatReply reply;
  reply.round = round;
  reply.state_digest = state;
  return reply;
}

wire::HeartbeatReply with_donor(RoundIndex round, const Digest& state) {
  wire::HeartbeatReply reply = names(round, state);
  reply.donors.push_back({peer(2), "192.0.2.2", 7000});
  return reply;
}

template <class Source>
bool is(const StateSource& source) {
  return std::holds_alternative<Source>(source);
}

const Status kFailed = Error{ErrorCode::unavailable, "the donor vanished"};

}  // namespace

TEST_CASE("a replica is the swarm's when the coordinator names its state") {
  Replica replica({3, digest(1)}, {});
  CHECK_FALSE(replica.synced());
  CHECK(replica.judge(kStart, names(3, digest(1)), false) == Verdict::current);
  CHECK(replica.synced());
  replica.on_step(digest(2));
  CHECK(replica.state() == StateName{4, digest(2)});
  CHECK(replica.synced());
}

TEST_CASE("the same state under another round is the swarm's, renumbered") {
  Replica replica({3, digest(1)}, {});
  CHECK(replica.judge(kStart, names(5, digest(1)), false) == Verdict::renumbered);
  CHECK(replica.round() == 5);
  CHECK(replica.synced());
}

TEST_CASE("another state is lost once, foreign afterwards, and fetched from its donors") {
  Replica replica({3, digest(1)}, {});
  REQUIRE(replica.judge(kStart, names(3, digest(1)), false) == Verdict::current);
  CHECK(replica.judge(kStart, with_donor(3, digest(9)), false) == Verdict::lost);
  CHECK(replica.judge(kStart, with_donor(3, digest(9)), false) == Verdict::foreign);
  CHECK(is<FromDonors>(replica.begin_fetch(kStart)));
  CHECK(replica.fetching());
  CHECK(is<FromNobody>(replica.begin_fetch(kStart)));  // one at a time
  CHECK(replica.on_fetched(kStart, {3, digest(9)}, Status()) == FetchEnd::loaded);
  CHECK(replica.state() == StateName{3, digest(9)});
  CHECK(replica.synced());
}

TEST_CASE("a coordinator that is behind is no verdict while reports are on their way") {
  Replica replica({3, digest(1)}, {});
  REQUIRE(replica.judge(kStart, names(3, digest(1)), false) == Verdict::current);
  replica.on_step(digest(2));
  CHECK(replica.judge(kStart, names(3, digest(1)), true) == Verdict::open);
  CHECK(replica.judge(kStart, names(3, digest(1)), false) == Verdict::open);  // it has not heard of the new state
  replica.on_told();
  CHECK(replica.judge(kStart, names(3, digest(1)), false) == Verdict::lost);
}

TEST_CASE("a newer state supersedes the one that is fetched") {
  Replica replica({0, digest(1)}, {});
  REQUIRE(replica.judge(kStart, with_donor(5, digest(5)), false) == Verdict::foreign);
  REQUIRE(is<FromDonors>(replica.begin_fetch(kStart)));
  CHECK(replica.judge(kStart, with_donor(4, digest(4)), false) == Verdict::open);
  CHECK(replica.judge(kStart, with_donor(6, digest(6)), false) == Verdict::superseded);
  CHECK(replica.wanted() == StateName{6, digest(6)});
  CHECK(replica.on_fetched(kStart, {5, digest(5)}, kFailed) == FetchEnd::ignored);
  CHECK(replica.on_fetched(kStart, {6, digest(6)}, Status()) == FetchEnd::loaded);
}

TEST_CASE("a fetch that failed waits longer each time, and not for a newer state") {
  Replica replica({0, digest(1)}, {});
  REQUIRE(replica.judge(kStart, with_donor(5, digest(5)), false) == Verdict::foreign);
  REQUIRE(is<FromDonors>(replica.begin_fetch(kStart)));
  CHECK(replica.on_fetched(kStart, {5, digest(5)}, kFailed) == FetchEnd::failed);
  CHECK(replica.unsynced_reason() == "the donor vanished");
  REQUIRE(replica.judge(kStart, with_donor(5, digest(5)), false) == Verdict::foreign);
  CHECK(is<FromNobody>(replica.begin_fetch(kStart)));
  CHECK(replica.fetch_not_before() > kStart);
  CHECK(is<FromDonors>(replica.begin_fetch(replica.fetch_not_before())));
  CHECK(replica.on_fetched(kStart, {5, digest(5)}, kFailed) == FetchEnd::failed);
  REQUIRE(replica.judge(kStart, with_donor(6, digest(6)), false) == Verdict::foreign);
  CHECK(is<FromDonors>(replica.begin_fetch(kStart)));
}

TEST_CASE("the state before a step that does not count is here, until the step counts") {
  Replica replica({3, digest(1)}, {});
  REQUIRE(replica.judge(kStart, names(3, digest(1)), false) == Verdict::current);
  replica.on_step(digest(2));
  CHECK_FALSE(replica.forget_previous(3));
  replica.lose_sync(kStart, "the last round's group came to no decision");
  REQUIRE(replica.judge(kStart, with_donor(3, digest(1)), false) == Verdict::open);
  replica.on_told();
  REQUIRE(replica.judge(kStart, with_donor(3, digest(1)), false) == Verdict::foreign);
  CHECK(is<FromPreviousStep>(replica.begin_fetch(kStart)));
  CHECK(replica.on_fetched(kStart, {3, digest(1)}, Status()) == FetchEnd::restored);

  replica.on_step(digest(3));
  CHECK(replica.forget_previous(4));
  CHECK_FALSE(replica.forget_previous(4));
}

TEST_CASE("the beginning that the project has signed is made here, and no other is taken") {
  Replica replica({0, digest(7)}, digest(1));
  CHECK(replica.judge(kStart, with_donor(0, digest(9)), false) == Verdict::foreign);
  CHECK(is<FromNobody>(replica.begin_fetch(kStart)));
  CHECK(replica.unsynced_reason().find("the project has signed") != std::string::npos);
  CHECK(replica.judge(kStart, with_donor(0, digest(1)), false) == Verdict::foreign);
  CHECK(is<FromSeed>(replica.begin_fetch(kStart)));
  CHECK(replica.on_fetched(kStart, {0, digest(1)}, Status()) == FetchEnd::loaded);
  CHECK(replica.judge(kStart, names(0, digest(9)), false) == Verdict::lost);
}

TEST_CASE("without donors the coordinator's copy is fetched, if it is of that state") {
  Replica replica({0, digest(7)}, {});
  wire::HeartbeatReply reply = names(5, digest(5));
  reply.kept.checkpoint.emplace();
  reply.kept.checkpoint->state_digest = digest(4);
  reply.notice = "nobody holds the model";
  REQUIRE(replica.judge(kStart, reply, false) == Verdict::foreign);
  CHECK(is<FromNobody>(replica.begin_fetch(kStart)));
  CHECK(replica.unsynced_reason() == "nobody holds the model");
  reply.kept.checkpoint->state_digest = digest(5);
  REQUIRE(replica.judge(kStart, reply, false) == Verdict::foreign);
  CHECK(is<FromCopy>(replica.begin_fetch(kStart)));
}

TEST_CASE("after members that gave nothing comes the coordinator's copy, and then members again") {
  Replica replica({0, digest(7)}, {});
  wire::HeartbeatReply reply = with_donor(5, digest(5));
  reply.kept.checkpoint.emplace();
  reply.kept.checkpoint->state_digest = digest(5);
  TimePoint now = kStart;
  for (const bool from_copy : {false, true, false}) {
    REQUIRE(replica.judge(now, reply, false) == Verdict::foreign);
    const StateSource source = replica.begin_fetch(now);
    CHECK(is<FromCopy>(source) == from_copy);
    CHECK(is<FromDonors>(source) != from_copy);
    CHECK(replica.on_fetched(now, {5, digest(5)}, kFailed) == FetchEnd::failed);
    now += std::chrono::seconds(20);
  }
}
