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
  const auto ipv6 = parse_web_address("https://[2001:db8::7]/shards/");
  REQUIRE(ipv6.ok());
  CHECK(ipv6->host == "2001:db8::7");
  CHECK(ipv6->port == 443);
  CHECK(parse_web_address("https://[::1]:8443/")->port == 8443);
}

TEST_CASE("hosts and ports are read as they are written") {
  for (const char* text : {"example.org:7700", "my_container:1", "192.0.2.7:65535", "[::1]:8443", "[2001:db8::7]:80"}) {
    CAPTURE(text);
    const auto at = parse_host_and_port(text);
    REQUIRE(at.ok());
    CHECK(format_host_and_port(at->host, at->port) == text);
  }
  CHECK(parse_host_and_port("[2001:db8::7]:80")->host == "2001:db8::7");
  for (const std::string_view text : {"", "host", "host:", ":80", "::1:80", "[]:80", "[::1]", "[::1]80", "[::1]x:80",
                                      "[192.0.2.7]:80", "host:080", "host:65536", "-host:80", "ho st:80"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_host_and_port(text).ok());
  }
  CHECK_FALSE(parse_host_and_port(std::string_view("[::1\0]:80", 9)).ok());
}

TEST_CASE("other schemes, users, strange hosts, ports and characters are refused") {
  for (const char* address :
       {"", "http://a.org/", "https://a.org", "https:///x", "https://user@a.org/", "https://[a.org]/", "https://[::1/",
        "https://[::1]8443/", "https://[fe80::1%eth0]/", "https://::1/", "https://a.org:/", "https://a.org:0/",
        "https://a.org:65536/", "https://a.org:8x/", "https://a.org/a b", "https://a.org/\n"}) {
    CAPTURE(address);
    CHECK_FALSE(parse_web_address(address).ok());
  }
}
