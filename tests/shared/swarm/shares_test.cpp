#include "shared/swarm/shares.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

using namespace starling;
using namespace starling::swarm;

namespace {

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

std::vector<double> allocate_shares(const std::vector<Link>& links) {
  std::vector<Load> loads;
  for (const Link& link : with_typical_speeds(links)) loads.push_back({link});
  return share_out(loads, {1e6}).of;
}

// Time of the butterfly, in vectors: that of the slowest owner, (1 + (N-2) s) / b.
double owners_time(const std::vector<Link>& links, const std::vector<double>& shares) {
  double time = 0;
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (shares[i] <= 0) continue;
    const double b = std::min(links[i].upload, links[i].download);
    time = std::max(time, (1 + static_cast<double>(links.size() - 2) * shares[i]) / b);
  }
  return time;
}

// The smallest time in which the owners can take the whole vector, by bisection: no sorting, no closed form.
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

// The least time that lets owners, each in both directions, take the whole vector: by bisection on time and, for every
// member, on its share.
double least_round(const std::vector<Load>& loads, const Vector& vector) {
  double takers = 0;
  double late = 0;
  double sent = 0;
  for (const Load& load : loads) {
    takers += load.late ? 0 : 1;
    late += load.late ? load.link.download : 0;
    sent += load.sent_bytes;
  }
  const auto possible = [&](double seconds) {
    double owned = 0;
    for (const Load& load : loads) {
      const double up = load.link.upload * seconds / vector.floats;
      const double down = load.link.download * seconds / vector.floats;
      const double trickle =
          std::min(late * seconds / vector.floats, vector.result_bytes * (static_cast<double>(loads.size()) - takers));
      const auto fits = [&](double share) {
        const double results = share * (vector.result_bytes * (takers - 1) + trickle);
        const double taken = load.late ? 0 : (sent - load.sent_bytes) * share + vector.result_bytes * (1 - share);
        return load.sent_bytes * (1 - share) + results <= up && taken <= down;
      };
      if (!fits(0)) return false;
      double low = 0;
      double high = 1;
      for (int step = 0; step < 30; ++step) (fits((low + high) / 2) ? low : high) = (low + high) / 2;
      owned += load.late || !load.link.dialable ? 0 : high;
    }
    return owned >= 1;
  };
  double low = 0;
  double high = 1e12;
  for (int step = 0; step < 120; ++step) (possible((low + high) / 2) ? high : low) = (low + high) / 2;
  return high;
}

}  // namespace

TEST_CASE("whatever the codecs, and whoever is late, the round is as short as the lines allow") {
  for (unsigned seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::vector<Load> loads;
    for (const Link& link : random_links(random, 4 + random() % 8)) {
      loads.push_back({link, random() % 3 == 0 ? 0.53 : (random() % 2 == 0 ? 2 : 4), random() % 4 == 0, 1});
    }
    for (int i = 0; i < 3; ++i) loads[static_cast<std::size_t>(i)] = {{100, 100, true}, 4, false, 1};
    const Vector vector{1e6, 4};
    const double least = least_round(loads, vector);
    CHECK(share_out(loads, vector).round_s == doctest::Approx(least).epsilon(1e-5));
    CHECK(round_seconds(loads, vector) == doctest::Approx(least).epsilon(1e-5));
  }
}

TEST_CASE("a member owns no more than is entrusted to it, unless nobody else can") {
  std::vector<Load> loads(4, {{100, 100, true}});
  loads[0].reliance = 0.1;
  CHECK(share_out(loads, {1e6}).of[0] <= 0.1);
  loads[1].reliance = 0;
  CHECK(share_out(loads, {1e6}).of[1] == 0);
  for (Load& load : loads) load.reliance = 0.05;
  CHECK(sum(share_out(loads, {1e6}).of) == doctest::Approx(1));
}

TEST_CASE("a member owns no more than its limit, however fast its line is said to be, unless nobody else can") {
  std::vector<Load> loads(4, {{100, 100, true}});
  loads[0].link = {1e9, 1e9, true};
  loads[0].share_max = 0.25;
  const Shares limited = share_out(loads, {1e6});
  CHECK(limited.of[0] <= 0.25 + 1e-9);
  CHECK(sum(limited.of) == doctest::Approx(1));
  for (Load& load : loads) load.share_max = 0.25;
  CHECK(share_out(loads, {1e6}).of[0] == doctest::Approx(0.25));
  for (std::size_t i = 2; i < loads.size(); ++i) loads[i].link.dialable = false;
  CHECK(sum(share_out(loads, {1e6}).of) == doctest::Approx(1));
  const std::vector<Load> pair = {{{1e9, 1e9, true}, 4, false, 1, 0.5}, {{100, 100, true}}};
  CHECK(share_out(pair, {1e6}).of[0] <= 0.5 + 1e-9);
}

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

TEST_CASE("speeds as near as measuring gets become equal, each direction by itself") {
  const std::vector<Link> links{{100, 52}, {104, 50}, {0, 51}, {107, std::nan("")}, {120, 100}, {200, 60}};
  const std::vector<Link> levelled = with_like_speeds(links);
  REQUIRE(levelled.size() == links.size());
  const double upload = (100.0 + 104 + 107) / 3;
  for (const std::size_t i : {0, 1, 3}) CHECK(levelled[i].upload == doctest::Approx(upload));
  CHECK(levelled[2].upload == 0);
  CHECK(levelled[4].upload == 120);
  CHECK(levelled[5].upload == 200);
  for (const std::size_t i : {0, 1, 2}) CHECK(levelled[i].download == doctest::Approx(51));
  CHECK(std::isnan(levelled[3].download));
  CHECK(levelled[4].download == 100);
  CHECK(levelled[5].download == 60);
}

TEST_CASE("lines between which each is like the next are not all alike") {
  std::vector<Link> links;
  for (double speed = 100; speed < 250; speed *= 1.03) links.push_back({speed, speed});
  const std::vector<Link> levelled = with_like_speeds(links);
  for (std::size_t i = 0; i < links.size(); ++i) {
    CHECK(levelled[i].upload == doctest::Approx(links[i].upload).epsilon(0.05));
    CHECK(levelled[i].upload == levelled[i].download);
  }
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
