#include "shared/swarm/plan.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

using namespace starling;
using namespace starling::swarm;

namespace {

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

// Time of the butterfly, in vectors: the slowest owner's (1 + (N-2) s) / b.
double owners_time(const std::vector<Link>& links, const std::vector<double>& shares) {
  double time = 0;
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (shares[i] <= 0) continue;
    const double b = std::min(links[i].upload, links[i].download);
    time = std::max(time, (1 + static_cast<double>(links.size() - 2) * shares[i]) / b);
  }
  return time;
}

// The smallest time at which the owners can take the whole vector, by bisection: no sorting, no closed form.
double best_time(const std::vector<Link>& links) {
  const double others = static_cast<double>(links.size() - 2);
  double low = 0;
  double high = 1e12;
  for (int step = 0; step < 200; ++step) {
    const double xi = (low + high) / 2;
    double capacity = 0;
    for (const Link& link : links) {
      if (link.dialable) capacity += std::max(0.0, (xi * std::min(link.upload, link.download) - 1) / others);
    }
    (capacity >= 1 ? high : low) = xi;
  }
  return high;
}

std::vector<Link> random_links(std::mt19937& random, std::size_t count) {
  std::uniform_real_distribution<double> exponent(0, 4);
  std::vector<Link> links(count);
  for (Link& link : links) {
    link = {std::pow(10.0, exponent(random)), std::pow(10.0, exponent(random)), random() % 4 != 0};
  }
  links[random() % count].dialable = true;
  return links;
}

wire::MemberInfo member(std::uint8_t id, double speed, double batch_seconds) {
  wire::MemberInfo info;
  info.endpoint = {.peer = {}, .host = "192.0.2.1", .port = 4000};
  info.endpoint.peer.bytes[0] = id;
  info.upload_bytes_per_s = speed;
  info.download_bytes_per_s = speed;
  info.batch_seconds = batch_seconds;
  return info;
}

}  // namespace

TEST_CASE("shares reach the optimum of the linear programme") {
  for (unsigned seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const std::vector<Link> links = random_links(random, 3 + random() % 62);
    const std::vector<double> shares = allocate_shares(links);
    CHECK(sum(shares) == doctest::Approx(1.0).epsilon(1e-9));
    CHECK(owners_time(links, shares) == doctest::Approx(best_time(links)).epsilon(1e-6));
    for (std::size_t i = 0; i < links.size(); ++i) {
      CHECK(shares[i] >= 0);
      if (!links[i].dialable) CHECK(shares[i] == 0);
    }
  }
}

TEST_CASE("the groups of the literature get their known times") {
  // 2 fast and 14 slow: .0100 vectors per unit; 16 mixed (4 x 200, 8 x 100, 4 x 50): bound by the slowest, 1/50.
  std::vector<Link> links(16, {100, 100, true});
  links[0] = links[1] = {1000, 1000, true};
  CHECK(std::max(owners_time(links, allocate_shares(links)), 1.0 / 100) == doctest::Approx(0.0100).epsilon(1e-3));
  for (std::size_t i = 0; i < 16; ++i) links[i].upload = links[i].download = i < 4 ? 200 : (i < 12 ? 100 : 50);
  CHECK(owners_time(links, allocate_shares(links)) <= 1.0 / 50);
}

TEST_CASE("equal links share equally") {
  const std::vector<Link> links(7, {5e6, 9e6, true});
  for (const double share : allocate_shares(links)) CHECK(share == doctest::Approx(1.0 / 7));
}

TEST_CASE("segments are short where a line is slow") {
  const auto planned = [](std::vector<double> speeds) {
    std::vector<wire::MemberInfo> members;
    for (const double speed : speeds) members.push_back(member(static_cast<std::uint8_t>(members.size()), speed, 1));
    PlanOptions options;
    options.vector_floats = 4 << 20;
    return plan_group(members, options).segment_floats;
  };
  CHECK(planned({0, 0, 0}) == wire::kSegmentFloatsDefault);
  CHECK(planned({1e9, 1e9}) == wire::kSegmentFloatsDefault);
  CHECK(planned({25e6, 6.25e6}) == 8192);  // 32 KiB pass 50 Mbit/s in 5 ms
  CHECK(planned({25e6, 0, 1e3}) == 4096);
}

TEST_CASE("one member owns everything") {
  CHECK(allocate_shares(std::vector<Link>{{0, 0, true}}) == std::vector<double>{1.0});
  CHECK(allocate_shares(std::vector<Link>{{0, 0, false}}) == std::vector<double>{1.0});
  CHECK(allocate_shares({}).empty());
}

TEST_CASE("two members share in proportion to their speed") {
  const auto shares = allocate_shares(std::vector<Link>{{30, 100, true}, {100, 10, true}});
  CHECK(shares[0] == doctest::Approx(0.75));
  CHECK(shares[1] == doctest::Approx(0.25));
  const auto one = allocate_shares(std::vector<Link>{{30, 30, false}, {1, 1, true}});
  CHECK(one == std::vector<double>{0.0, 1.0});
}

TEST_CASE("an unknown speed counts as the median of the known ones") {
  const std::vector<Link> known = {{10, 10, true}, {40, 40, true}, {90, 90, true}, {40, 40, true}};
  std::vector<Link> unknown = known;
  unknown[3] = {0, 0, true};
  CHECK(allocate_shares(unknown) == allocate_shares(known));
  unknown[3] = {std::nan(""), -3, true};
  CHECK(allocate_shares(unknown) == allocate_shares(known));
  for (const double share : allocate_shares(std::vector<Link>(5))) CHECK(share == doctest::Approx(0.2));
}

TEST_CASE("parts add up to the vector and follow the shares") {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    std::vector<double> shares(1 + random() % 40);
    for (double& share : shares) share = random() % 3 == 0 ? 0.0 : std::uniform_real_distribution<double>(0, 1)(random);
    shares[0] = 0.5;
    const double total = sum(shares);
    const auto floats = static_cast<std::int64_t>(1 + random() % (std::uint64_t{1} << (random() % 33)));
    const auto parts = split_vector(floats, shares);
    CHECK(std::accumulate(parts.begin(), parts.end(), std::int64_t{0}) == floats);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      CHECK(std::abs(static_cast<double>(parts[i]) - static_cast<double>(floats) * shares[i] / total) < 1.5);
      if (shares[i] == 0) CHECK(parts[i] == 0);
    }
  }
}

TEST_CASE("every machine makes the same plan of the same members") {
  PlanOptions options{.run_id = "tiny-gpt", .round = 7, .state_digest = {}, .vector_floats = 100000};
  std::vector<wire::MemberInfo> members;
  for (const int id : {9, 3, 5, 1}) members.push_back(member(static_cast<std::uint8_t>(id), 1e6 * id, 0.5));
  members[2].endpoint.port = 0;
  const wire::GroupInfo group = plan_group(members, options);
  CHECK(wire::check_group(group).ok());
  CHECK(std::is_sorted(group.members.begin(), group.members.end(),
                       [](const auto& a, const auto& b) { return a.endpoint.peer < b.endpoint.peer; }));
  CHECK(group.members[2].part_floats == 0);  // cannot be dialled

  std::reverse(members.begin(), members.end());
  const wire::GroupInfo again = plan_group(members, options);
  CHECK(again.id == group.id);
  CHECK(plan_digest(again) == plan_digest(group));
}

TEST_CASE("the plan's digest tells what must be agreed on, and not the times") {
  PlanOptions options{.run_id = "tiny-gpt", .round = 7, .state_digest = {}, .vector_floats = 100000};
  const std::vector<wire::MemberInfo> members = {member(1, 1e6, 1), member(2, 1e6, 1), member(3, 1e6, 1)};
  const wire::GroupInfo group = plan_group(members, options);

  wire::GroupInfo later = group;
  later.start_in_ms += 500;
  later.begin_within_ms += 500;
  CHECK(plan_digest(later) == plan_digest(group));

  wire::GroupInfo shifted = group;
  --shifted.members[0].part_floats;
  ++shifted.members[1].part_floats;
  CHECK(plan_digest(shifted) != plan_digest(group));
  wire::GroupInfo halved = group;
  halved.codec = "fp16";
  CHECK(plan_digest(halved) != plan_digest(group));

  wire::GroupInfo elsewhere = group;
  elsewhere.state_digest.bytes.fill(1);
  CHECK(plan_digest(elsewhere) != plan_digest(group));

  options.nonce = 1;
  CHECK(plan_group(members, options).id != group.id);
}

TEST_CASE("members are awaited as long as the slowest micro-batch may take") {
  PlanOptions options{
      .run_id = "tiny-gpt", .round = 7, .state_digest = {}, .vector_floats = 1000, .heartbeat_jitter_ms = 700};
  const auto wait = [&](double slowest) {
    const std::vector<wire::MemberInfo> members = {member(1, 1e6, 0.2), member(2, 1e6, slowest)};
    return plan_group(members, options).begin_within_ms;
  };
  CHECK(wait(10) - wait(2) == 12000);
  CHECK(wait(2) >= 2000 + options.heartbeat_jitter_ms);
  CHECK(wait(1e300) <= wire::kPlanWaitMsMax);
  CHECK(wait(std::nan("")) == wait(0.2));
}
