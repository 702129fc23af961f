#include "shared/swarm/host_kinds.h"

#include <doctest/doctest.h>

#include <cmath>

#include "shared/base/permutation.h"

using namespace starling;
using namespace starling::swarm;

namespace {

Host host(double samples_per_s, double upload, double download, bool dialable = true) {
  Host made;
  made.samples_per_s = samples_per_s;
  made.link.upload = upload;
  made.link.download = download;
  made.link.dialable = dialable;
  return made;
}

double speed_of(const std::vector<HostKind>& kinds) {
  double sum = 0;
  for (const HostKind& kind : kinds) sum += static_cast<double>(kind.count) * kind.host.samples_per_s;
  return sum;
}

}  // namespace

TEST_CASE("computers of about one speed are one kind, others and those that cannot be dialled are their own") {
  const auto kinds = host_kinds(
      std::vector<Host>{host(10, 1e6, 5e6), host(10.5, 1.02e6, 5e6), host(10, 1e6, 5e6, false), host(80, 1e6, 5e6)});
  REQUIRE(kinds.size() == 3);
  CHECK(kinds[0].host.samples_per_s == 80);
  CHECK(kinds[1].count == 2);
  CHECK(kinds[1].host.samples_per_s == doctest::Approx(10.25));
  CHECK(kinds[1].host.link.dialable);
  CHECK_FALSE(kinds[2].host.link.dialable);
  CHECK(host_kinds({}).empty());
}

TEST_CASE("however many computers there are, there are few kinds, and nothing is lost") {
  std::vector<Host> hosts;
  double sum = 0;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const auto power = [i](std::uint64_t salt) {
      return std::exp2(static_cast<double>(mix64(3 * i + salt) % 2000) / 100 - 10);
    };
    hosts.push_back(host(power(0), 1e6 * power(1), 1e6 * power(2), i % 3 != 0));
    sum += hosts.back().samples_per_s;
  }
  const auto kinds = host_kinds(hosts);
  CHECK(kinds.size() <= kHostKindsMax);
  CHECK(kinds.size() > 10);
  std::size_t count = 0;
  for (const HostKind& kind : kinds) count += kind.count;
  CHECK(count == hosts.size());
  CHECK(speed_of(kinds) == doctest::Approx(sum));
}
