#include "tests/client/transport/swarm.h"

#include <doctest/doctest.h>

#include <thread>

namespace starling::transport::testing {

using averaging::AveragingOutcome;
using averaging::Rank;

Project::Project() : ca_(*crypto::CertificateAuthority::create("test", SystemClock().wall_now())) {}

crypto::TlsIdentity Project::identity(const crypto::PrivateKey& key, const crypto::IssueOptions& options) const {
  return {.certificate_pem = *ca_.issue(crypto::make_csr(key), options), .key = key};
}

crypto::TlsIdentity Project::identity(const crypto::PrivateKey& key) const {
  crypto::IssueOptions options;
  options.now = SystemClock().wall_now();
  return identity(key, options);
}

crypto::TlsContext Project::context(const crypto::TlsIdentity& identity) const {
  return *crypto::TlsContext::peer(ca_pem(), identity);
}

PeerNetworkOptions options_for(const PeerId& id, bool listens) {
  PeerNetworkOptions options;
  options.listen_host = listens ? "127.0.0.1" : "";
  options.self = id;
  options.run_id = kRun;
  options.addresses.allow_loopback = true;
  return options;
}

void wait_until(const std::function<bool()>& condition) {
  const SystemClock clock;
  const TimePoint deadline = clock.now() + kPatience;
  while (!condition()) {
    REQUIRE(clock.now() < deadline);
    std::this_thread::yield();
  }
}

Member::Member(PeerNetworkOptions options, crypto::PrivateKey own_key, crypto::TlsContext tls, StateSource source)
    : key(std::move(own_key)), id(options.self) {
  auto created = PeerNetwork::create(std::move(options), tls, clock, std::move(source));
  REQUIRE_MESSAGE(created.ok(), created.error().message);
  net = std::move(created).value();
}

Member::Member(const Project& project, bool listens, StateSource source)
    : key(crypto::PrivateKey::generate()), id(key.peer_id()) {
  auto created =
      PeerNetwork::create(options_for(id, listens), project.context(project.identity(key)), clock, std::move(source));
  REQUIRE_MESSAGE(created.ok(), created.error().message);
  net = std::move(created).value();
}

wire::Endpoint Member::endpoint() const {
  const int port = net->port();
  return {.peer = id, .host = port == 0 ? "" : "127.0.0.1", .port = port};
}

Members make_members(const Project& project, std::size_t count) {
  Members members;
  for (std::size_t i = 0; i < count; ++i) members.push_back(std::make_unique<Member>(project));
  return members;
}

wire::GroupInfo plan_of(const std::vector<wire::Endpoint>& endpoints, std::int64_t floats, std::int64_t round) {
  wire::GroupInfo group;
  group.id.bytes[0] = static_cast<std::uint8_t>(round + 1);
  group.run_id = kRun;
  group.round = round;
  group.vector_floats = floats;
  const auto owners = std::count_if(endpoints.begin(), endpoints.end(), wire::dialable);
  std::int64_t left = floats;
  std::int64_t owners_left = owners;
  for (const wire::Endpoint& endpoint : endpoints) {
    const std::int64_t part = wire::dialable(endpoint) ? left / owners_left : 0;
    if (wire::dialable(endpoint)) --owners_left;
    left -= part;
    group.members.push_back({.endpoint = endpoint, .part_floats = part});
  }
  return group;
}

wire::GroupInfo plan_of(const Members& members, std::int64_t floats, std::int64_t round) {
  std::vector<wire::Endpoint> endpoints;
  for (const auto& member : members) endpoints.push_back(member->endpoint());
  return plan_of(endpoints, floats, round);
}

Seat::Seat(const wire::GroupInfo& plan, Rank own_rank, SampleCount own_weight)
    : group(plan),
      rank(own_rank),
      weight(own_weight),
      input(static_cast<std::size_t>(plan.vector_floats)),
      output(input.size()) {
  // A sum over `weight` samples.
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = value(rank, i) * static_cast<float>(weight);
}

float Seat::value(Rank rank, std::size_t position) {
  return static_cast<float>((position * 7 + rank * 13) % 64) - 20.0F;
}

Status Seat::start(Member& member, Duration delay) {
  AverageRequest request;
  request.group = group;
  request.self = rank;
  request.weight = weight;
  request.input = input;
  request.output = output;
  request.start = member.clock.now() + delay;
  request.engine = engine;
  request.follows = follows;
  request.done = [this](const AveragingOutcome& result) {
    promise.set_value(result);
    if (then) then();
  };
  return mixes ? member.net->mix(bucket, std::move(request)) : member.net->average(std::move(request));
}

AveragingOutcome Seat::wait() {
  REQUIRE(outcome.wait_for(kPatience) == std::future_status::ready);
  return outcome.get();
}

Seats seats_of(const wire::GroupInfo& group) {
  Seats seats;
  for (Rank rank = 0; rank < group.members.size(); ++rank) {
    seats.push_back(std::make_unique<Seat>(group, rank, static_cast<SampleCount>(rank) + 1));
  }
  return seats;
}

float mean_of(const std::vector<Rank>& ranks, std::size_t position) {
  float sum = 0;
  float weights = 0;
  for (const Rank rank : ranks) {
    sum += Seat::value(rank, position) * static_cast<float>(rank + 1);
    weights += static_cast<float>(rank + 1);
  }
  return sum / weights;
}

void check_exact_round(Members& members, const wire::GroupInfo& group) {
  const Seats seats = seats_of(group);
  for (Rank rank = 0; rank < seats.size(); ++rank) REQUIRE(seats[rank]->start(*members[rank]).ok());
  std::vector<Rank> all(seats.size());
  for (Rank rank = 0; rank < all.size(); ++rank) all[rank] = rank;
  for (const auto& seat : seats) {
    const AveragingOutcome outcome = seat->wait();
    CHECK(outcome.verdict == AveragingOutcome::Verdict::averaged);
    CHECK(outcome.lost.empty());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < seat->output.size(); ++i) wrong += seat->output[i] == mean_of(all, i) ? 0 : 1;
    CHECK(wrong == 0);
  }
  // The networks must no longer answer from these vectors when they are destroyed.
  for (const auto& member : members) member->net->abandon();
}

}  // namespace starling::transport::testing
