#include "shared/base/host_name.h"

#include <doctest/doctest.h>

#include <string>

namespace starling {

TEST_CASE("names of hosts are those of the Internet, and of containers") {
  for (const char* name :
       {"example.org", "a", "localhost", "my_host", "_dns.example.org", "192.0.2.7", "x-1.example"}) {
    CAPTURE(name);
    CHECK(is_host_name(name));
  }
  for (const char* name : {"", "-a", ".a", "a b", "ex\u00e4mple.org", "a/b", "a:80", "[::1]", "*.example.org"}) {
    CAPTURE(name);
    CHECK_FALSE(is_host_name(name));
  }
  CHECK(is_host_name(std::string(253, 'a')));
  CHECK_FALSE(is_host_name(std::string(254, 'a')));
}

}  // namespace starling
