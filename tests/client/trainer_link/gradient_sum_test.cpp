#include "client/trainer_link/gradient_sum.h"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

using namespace starling;
using namespace starling::trainer_link;

TEST_CASE("finite gradients are added") {
  std::vector<float> into{1, 2, 3};
  CHECK(add_gradient(std::vector<float>{0.5F, -2, std::numeric_limits<float>::denorm_min()}, into).ok());
  CHECK(into == std::vector<float>{1.5F, 0, 3});
}

TEST_CASE("one value that is not finite, wherever it stands, leaves the sum untouched") {
  const float bad_values[] = {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::quiet_NaN(),
                              std::numeric_limits<float>::signaling_NaN(), std::numeric_limits<float>::infinity(),
                              -std::numeric_limits<float>::infinity()};
  const std::vector<float> before(10'000, 3.0F);
  for (const float bad : bad_values) {
    for (const std::size_t place : {std::size_t{0}, std::size_t{4095}, std::size_t{4096}, std::size_t{9'999}}) {
      std::vector<float> gradient(before.size(), 1.0F);
      gradient[place] = bad;
      std::vector<float> into = before;
      const Status status = add_gradient(gradient, into);
      REQUIRE_FALSE(status.ok());
      CHECK(status.error().code == ErrorCode::corrupt);
      CHECK(status.error().message.find(std::to_string(place)) != std::string::npos);
      CHECK(into == before);
    }
  }
}
