#include "shared/wire/web_address.h"

#include <doctest/doctest.h>

using namespace starling::wire;

TEST_CASE("an address is its host, its port and the rest") {
  const auto plain = parse_web_address("https://mirror.example.org/shards/");
  REQUIRE(plain.ok());
  CHECK(plain->host == "mirror.example.org");
  CHECK(plain->port == 443);
  CHECK(plain->path == "/shards/");
  const auto with_port = parse_web_address("https://127.0.0.1:8443/");
  REQUIRE(with_port.ok());
  CHECK(with_port->host == "127.0.0.1");
  CHECK(with_port->port == 8443);
}

TEST_CASE("other schemes, users, strange hosts, ports and characters are refused") {
  for (const char* address :
       {"", "http://a.org/", "https://a.org", "https:///x", "https://user@a.org/", "https://[::1]/", "https://a.org:0/",
        "https://a.org:65536/", "https://a.org:8x/", "https://a.org/a b", "https://a.org/\n"}) {
    CAPTURE(address);
    CHECK_FALSE(parse_web_address(address).ok());
  }
}
