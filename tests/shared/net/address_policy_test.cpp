#include "shared/net/address_policy.h"

#include <doctest/doctest.h>

using namespace starling;
using namespace starling::net;

TEST_CASE("public addresses may always be dialled") {
  for (const char* host : {"8.8.8.8", "100.128.0.1", "172.32.0.1", "2a00:1450::1", "::ffff:8.8.8.8"}) {
    CAPTURE(host);
    CHECK(check_address(host, 4000, {}).ok());
  }
}

TEST_CASE("this machine and private networks are dialled only where that is allowed") {
  for (const char* host : {"127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"}) {
    CAPTURE(host);
    CHECK_FALSE(check_address(host, 4000, {.allow_loopback = false, .allow_private = true}).ok());
    CHECK(check_address(host, 4000, {.allow_loopback = true, .allow_private = false}).ok());
  }
  for (const char* host :
       {"10.0.0.1", "172.16.0.1", "172.31.255.1", "192.168.1.1", "100.64.0.1", "fd00::1", "::ffff:192.168.1.1"}) {
    CAPTURE(host);
    CHECK_FALSE(check_address(host, 4000, {.allow_loopback = true, .allow_private = false}).ok());
    CHECK(check_address(host, 4000, {.allow_loopback = false, .allow_private = true}).ok());
  }
}

TEST_CASE("what can be no peer is never dialled") {
  const AddressPolicy all{.allow_loopback = true, .allow_private = true};
  for (const char* host : {"0.0.0.0", "0.1.2.3", "::", "169.254.169.254", "fe80::1", "224.0.0.1", "255.255.255.255",
                           "ff02::1", "64:ff9b::a00:1", "::7f00:1", "::ffff:169.254.169.254"}) {
    CAPTURE(host);
    CHECK(check_address(host, 4000, all).error().code == ErrorCode::permission_denied);
  }
  for (const char* host : {"", "localhost", "example.org", "127.1", "1.2.3.4.5", "fe80::1%lo", "[::1]", "0x7f000001"}) {
    CAPTURE(host);
    CHECK(check_address(host, 4000, all).error().code == ErrorCode::invalid_argument);
  }
  for (const int port : {0, -1, 65536}) CHECK_FALSE(check_address("8.8.8.8", port, all).ok());
}

TEST_CASE("peers may be as near as the coordinator is") {
  CHECK(policy_for_coordinator("127.0.0.1").allow_loopback);
  CHECK(policy_for_coordinator("localhost").allow_loopback);
  CHECK(policy_for_coordinator("192.168.0.7").allow_private);
  CHECK_FALSE(policy_for_coordinator("192.168.0.7").allow_loopback);
  for (const char* host : {"8.8.8.8", "example.org"}) {
    CHECK_FALSE(policy_for_coordinator(host).allow_private);
    CHECK_FALSE(policy_for_coordinator(host).allow_loopback);
  }
}
