#include "shared/net/url.h"

#include <doctest/doctest.h>

using namespace starling;

TEST_CASE("letters, digits and four signs stay as they are in a URL, every other byte is encoded") {
  CHECK(net::url_encode("a b&\xC3\xA9") == "a%20b%26%C3%A9");
  CHECK(net::url_encode("Az09-_.~") == "Az09-_.~");
  CHECK(net::url_encode("100%/?#+") == "100%25%2F%3F%23%2B");
  CHECK(net::url_encode("").empty());
}
