#include "tests/sim/elastic.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace starling::sim {

TEST_CASE("fifty rounds of peers that join, leave and die lead where one process with all their samples gets") {
  for (const ElasticSetup& setup :
       {ElasticSetup{wire::OptimizerKind::sgd, 0.05}, ElasticSetup{wire::OptimizerKind::adamw},
        ElasticSetup{wire::OptimizerKind::lamb}}) {
    CAPTURE(setup.optimizer);
    const auto result = train_elastically(setup, 1);
    REQUIRE(result.ok());
    CHECK(result->apart.size() == 50);
    CHECK(*std::max_element(result->apart.begin(), result->apart.end()) < 1e-5);
    CHECK(result->moved > 1e-2);
    CHECK(result->joins == 6);
    CHECK(result->leaves == 3);
    CHECK(result->deaths == 1);
  }
}

}  // namespace starling::sim
