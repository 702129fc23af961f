#include "shared/base/ids.h"

#include <doctest/doctest.h>

using namespace starling;

TEST_CASE("an id survives the trip through hexadecimal") {
  PeerId id;
  for (std::size_t i = 0; i < id.bytes.size(); ++i) id.bytes[i] = static_cast<std::uint8_t>(i * 9);
  const auto back = PeerId::from_hex(id.hex());
  REQUIRE(back.ok());
  CHECK(*back == id);
}

TEST_CASE("hexadecimal of the wrong length or alphabet is refused") {
  CHECK(!PeerId::from_hex("00").ok());
  CHECK(!PeerId::from_hex(std::string(64, 'g')).ok());
}
