#include <doctest/doctest.h>

#include <algorithm>

#include "shared/reach/relay_server.h"
#include "tests/client/transport/swarm.h"

using namespace starling;
using namespace starling::transport;
using namespace starling::transport::testing;
using averaging::Rank;

namespace {

constexpr std::int64_t kFloats = 300'000;
constexpr std::int64_t kPlenty = std::int64_t{1} << 40;

// The member's endpoint for others when they can call it only at this relay.
wire::Endpoint posted_at(const wire::Endpoint& relay, const Member& member) {
  return {member.id, relay.host, relay.port, relay.peer};
}

// Members that nobody can dial, posted at a relay that relays for them.
struct Posted {
  Posted(const Project& project, const wire::Endpoint& relay, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      members.push_back(std::make_unique<Member>(project, false));
      endpoints.push_back(posted_at(relay, *members.back()));
    }
  }
  [[nodiscard]] std::vector<PeerId> ids() const {
    std::vector<PeerId> ids;
    for (const auto& member : members) ids.push_back(member->id);
    return ids;
  }
  void post() {
    for (std::size_t i = 0; i < members.size(); ++i) REQUIRE(members[i]->net->post_at(endpoints[i]).ok());
    for (const auto& member : members) {
      wait_until([&] { return member->net->stats().relay.posted_at.has_value(); });
    }
  }

  Members members;
  std::vector<wire::Endpoint> endpoints;
};

// An operator's relay that relays for listed clients.
struct OperatorRules final : reach::RelayRules {
  std::vector<PeerId> clients;
  std::int64_t bytes_max = kPlenty;
  [[nodiscard]] bool may_post(const PeerId& peer) const override {
    return std::find(clients.begin(), clients.end(), peer) != clients.end();
  }
  [[nodiscard]] std::optional<reach::RelayAllowance> allowance(const PeerId& a, const PeerId& b) const override {
    if (!may_post(a) && !may_post(b)) return std::nullopt;
    return reach::RelayAllowance{std::minmax(a, b), 0, bytes_max};
  }
};

struct OperatorRelay {
  explicit OperatorRelay(const Project& project, reach::RelayLimits limits = {})
      : key(crypto::PrivateKey::generate()),
        server(*reach::RelayServer::create("127.0.0.1", 0, {project.context(project.identity(key)), clock, rules},
                                           limits)) {}
  void serve(std::vector<PeerId> clients, std::int64_t bytes_max = kPlenty) {
    rules.clients = std::move(clients);
    rules.bytes_max = bytes_max;
    (void)server->stats();  // from here on its thread sees the new rules
  }
  [[nodiscard]] wire::Endpoint endpoint() const { return {key.peer_id(), "127.0.0.1", server->port()}; }

  SystemClock clock;
  OperatorRules rules;
  crypto::PrivateKey key;
  std::unique_ptr<reach::RelayServer> server;
};

Seats start_all(Members& members, const wire::GroupInfo& group) {
  Seats seats = seats_of(group);
  for (Rank rank = 0; rank < members.size(); ++rank) REQUIRE(seats[rank]->start(*members[rank]).ok());
  return seats;
}

}  // namespace

TEST_CASE("a group that nobody can dial averages over a volunteer's relay outside the group") {
  const Project project;
  Member relay(project);
  Posted group(project, relay.endpoint(), 4);
  relay.net->relay_for({group.ids(), 0, kPlenty, 0});
  group.post();
  check_exact_round(group.members, plan_of(group.endpoints, kFloats));
  for (const auto& member : group.members) {
    CHECK(member->net->stats().links_relayed == 3);
    member->net->abandon();
  }
  const reach::RelayStats stats = relay.net->stats().relay.serving;
  CHECK(stats.streams == 6);  // one for each pair
  CHECK(stats.posts == 4);
  // Every coordinate goes to its owner from three others and back to them, and little else passes through the relay.
  const std::int64_t vector_bytes = 2 * 3 * kFloats * 4;
  CHECK(stats.bytes_total > vector_bytes);
  CHECK(stats.bytes_total < vector_bytes + vector_bytes / 10);
}

TEST_CASE("the operator's relay does the same, and the next round runs over the same links") {
  const Project project;
  OperatorRelay relay(project);
  Posted group(project, relay.endpoint(), 3);
  relay.serve(group.ids());
  group.post();
  check_exact_round(group.members, plan_of(group.endpoints, kFloats, 0));
  check_exact_round(group.members, plan_of(group.endpoints, kFloats, 1));
  CHECK(relay.server->stats().streams_total == 3);
}

TEST_CASE("two members that cannot reach each other meet at a third of their group") {
  const Project project;
  Members members = make_members(project, 3);
  wire::GroupInfo group = plan_of(members, kFloats);
  // Nobody listens where the first two members are supposed to be dialled.
  group.members[0].endpoint.port = group.members[1].endpoint.port = 1;
  const Seats seats = start_all(members, group);
  for (Rank rank = 0; rank < 3; ++rank) {
    CHECK(seats[rank]->wait().lost.empty());
    CHECK(seats[rank]->output[0] == mean_of({0, 1, 2}, 0));
  }
  CHECK(members[2]->net->stats().relay.serving.streams == 1);
  CHECK(members[0]->net->stats().links_relayed == 1);
  for (const auto& member : members) member->net->abandon();
}

TEST_CASE("a relay that dies in mid-round costs only the links over it") {
  const Project project;
  OperatorRelay relay(project, {.bytes_per_s = 2e6});  // this round would take several seconds
  Posted group(project, relay.endpoint(), 3);
  relay.serve(group.ids());
  group.post();
  const Seats seats = start_all(group.members, plan_of(group.endpoints, 4 * kFloats));
  wait_until([&] { return relay.server->stats().bytes_total > 1'000'000; });
  relay.server.reset();
  // Each is left alone with the frames that it has heard so far, and says so.
  for (Rank rank = 0; rank < 3; ++rank) CHECK(seats[rank]->wait().lost.size() == 2);
  for (const auto& member : group.members) {
    CHECK_FALSE(member->net->stats().relay.posted_at.has_value());
    member->net->abandon();
  }
}

TEST_CASE("a relay refuses those it was not told of") {
  const Project project;
  Member relay(project);
  Posted strangers(project, relay.endpoint(), 1);
  REQUIRE(strangers.members[0]->net->post_at(strangers.endpoints[0]).ok());
  wait_until([&] { return !strangers.members[0]->net->stats().relay.problem.empty(); });
  CHECK(strangers.members[0]->net->stats().relay.problem.find("does not know") != std::string::npos);
  CHECK(relay.net->stats().relay.serving.posts == 0);
}

TEST_CASE("what a client may pass in a round is bounded") {
  const Project project;
  OperatorRelay relay(project);
  Posted group(project, relay.endpoint(), 2);
  relay.serve(group.ids(), 500'000);
  group.post();
  const Seats seats = start_all(group.members, plan_of(group.endpoints, kFloats));
  for (Rank rank = 0; rank < 2; ++rank) CHECK(seats[rank]->wait().lost.size() == 1);
  const reach::RelayStats stats = relay.server->stats();
  CHECK(stats.cut_total == 1);
  CHECK(stats.bytes_total <= 500'000);
  for (const auto& member : group.members) member->net->abandon();
}

TEST_CASE("what newcomers get over a relay leaves its clients what they need for a round") {
  constexpr std::int64_t kBytesMax = 500'000;
  const Project project;
  Member relay(project);
  const std::vector<float> state(200'000, 0.5F);
  const auto snapshot = std::make_shared<const StateSnapshot>(snapshot_of(0, state));
  Posted group(project, relay.endpoint(), 0);
  for (int i = 0; i < 2; ++i) {
    group.members.push_back(
        std::make_unique<Member>(project, false, [&](RoundIndex, const Digest&) { return snapshot; }));
    group.endpoints.push_back(posted_at(relay.endpoint(), *group.members.back()));
  }
  relay.net->relay_for({group.ids(), 0, kBytesMax, 0});
  group.post();

  Member stranger(project, false);
  std::vector<float> got(state.size());
  std::promise<Status> done;
  StateFetch fetch;
  fetch.donors = {group.endpoints[0]};
  fetch.state_digest = snapshot->digest;
  fetch.out = got;
  fetch.done = [&done](const Status& status) { done.set_value(status); };
  REQUIRE(stranger.net->fetch_state(std::move(fetch)).ok());
  CHECK_FALSE(done.get_future().get().ok());
  CHECK(relay.net->stats().relay.serving.cut_total > 0);
  CHECK(relay.net->stats().relay.serving.bytes_total > kBytesMax / 2);

  check_exact_round(group.members, plan_of(group.endpoints, 50'000));
  for (const auto& member : group.members) member->net->abandon();
}

TEST_CASE("a computer that answers in the relay's place is not believed") {
  const Project project;
  Member relay(project);
  Member other(project);
  Posted group(project, relay.endpoint(), 1);
  wire::Endpoint wrong = group.endpoints[0];
  wrong.port = other.endpoint().port;
  REQUIRE(group.members[0]->net->post_at(wrong).ok());
  wait_until([&] { return !group.members[0]->net->stats().relay.problem.empty(); });
  CHECK(group.members[0]->net->stats().relay.problem.find("another computer answers") != std::string::npos);
}

TEST_CASE("a relay's address is one that the policy allows, or nobody goes there") {
  const Project project;
  Posted group(project, {.peer = PeerId{{1}}, .host = "169.254.169.254", .port = 80}, 1);
  CHECK_FALSE(group.members[0]->net->post_at(group.endpoints[0]).ok());
}
