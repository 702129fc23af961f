#include "shared/reach/address_prefix.h"

#include <doctest/doctest.h>

#include <vector>

namespace starling::reach {
namespace {

AddressPrefix prefix(const char* address) { return prefix_of(asio::ip::make_address(address)); }

}  // namespace

TEST_CASE("a network is an IPv4 /24 or an IPv6 /56, and a mapped address counts as IPv4") {
  CHECK(prefix("192.0.2.7") == prefix("192.0.2.200"));
  CHECK(prefix("192.0.2.7") != prefix("192.0.3.7"));
  CHECK(prefix("::ffff:192.0.2.9") == prefix("192.0.2.7"));
  CHECK(prefix("::ffff:192.0.3.9") != prefix("192.0.2.7"));
  CHECK(prefix("2001:db8:1:2ff::1") == prefix("2001:db8:1:200:9::2"));
  CHECK(prefix("2001:db8:1:200::1") != prefix("2001:db8:1:300::1"));
  CHECK(to_string(prefix("192.0.2.7")) == "192.0.2.0/24");
  CHECK(to_string(prefix("2001:db8:1:2ff::1")) == "2001:db8:1:200::/56");
}

TEST_CASE("the first caller of the most crowded network gives way") {
  const AddressPrefix a = prefix("192.0.2.1");
  const AddressPrefix b = prefix("198.51.100.1");
  const AddressPrefix c = prefix("2001:db8::1");
  CHECK(gives_way(std::vector{a}) == 0);
  CHECK(gives_way(std::vector{a, b, c}) == 0);
  CHECK(gives_way(std::vector{a, b, c, b}) == 1);
  CHECK(gives_way(std::vector{a, b, b, c, c, c}) == 3);
}

TEST_CASE("a caller whose network has its part takes a place of its own network") {
  const AddressPrefix a = prefix("192.0.2.1");
  const AddressPrefix b = prefix("198.51.100.1");
  CHECK(gives_way_to(a, {}, 4) == std::nullopt);
  CHECK(gives_way_to(a, std::vector{b, a}, 4) == std::nullopt);
  CHECK(gives_way_to(a, std::vector{b, a, a}, 4) == 1);
  CHECK(gives_way_to(b, std::vector{b, a, a}, 4) == std::nullopt);
  CHECK(gives_way_to(prefix("203.0.113.1"), std::vector{b, a, a, b, b}, 5) == 0);
}

TEST_CASE("no network has more than half of the places") {
  CHECK(places_of_prefix(64) == 32);
  CHECK(places_of_prefix(3) == 1);
  CHECK(places_of_prefix(1) == 1);
}

}  // namespace starling::reach
