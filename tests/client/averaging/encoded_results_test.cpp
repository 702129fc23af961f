#include "client/averaging/encoded_results.h"

#include <doctest/doctest.h>

using namespace starling::averaging;

TEST_CASE("results of late are found until others take their place") {
  EncodedResults results(2000);
  CHECK(results.find(0) == nullptr);
  const EncodedResults::Bytes third = results.make_room(3, 10);
  CHECK(third->size() == 10);
  CHECK(results.find(3) == third);
  CHECK(results.find(0) == nullptr);
  for (SegmentIndex segment = 4; segment < 1000; ++segment) results.make_room(segment, 20);
  CHECK(results.find(3) == nullptr);
  CHECK(results.find(999)->size() == 20);
}

TEST_CASE("what somebody still sends is not overwritten") {
  EncodedResults results(2000);
  const EncodedResults::Bytes sent = results.make_room(3, 10);
  sent->assign(10, 77);
  for (SegmentIndex segment = 4; segment < 1000; ++segment) results.make_room(segment, 10)->assign(10, 88);
  CHECK(*sent == std::vector<std::uint8_t>(10, 77));
}

TEST_CASE("of a short vector few results are kept") {
  EncodedResults results(40);
  for (SegmentIndex segment = 0; segment < 40; ++segment) results.make_room(segment, 10);
  int kept = 0;
  for (SegmentIndex segment = 0; segment < 40; ++segment) kept += results.find(segment) != nullptr ? 1 : 0;
  CHECK(kept == 5);
  CHECK(results.find(39) != nullptr);
}
