// The cost of the order in which segments go out: whole rounds behind access lines on virtual time, compared with the
// least time in which the lines could carry them.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "shared/swarm/plan.h"
#include "tests/client/averaging/line_network.h"

using namespace starling;
using namespace starling::averaging;

namespace {

// Lines of these speeds (Mbit/s) and a vector, both an eighth of the real size.
LineOptions lines(const std::vector<double>& mbit, unsigned seed) {
  LineOptions options;
  options.seed = seed;
  std::vector<swarm::Load> loads;
  for (const double rate : mbit) {
    options.bytes_per_s.push_back(rate * 1e6 / 8 / 8);
    loads.push_back({{options.bytes_per_s.back(), options.bytes_per_s.back(), true}});
  }
  options.shares = swarm::share_out(loads, {1e6}).of;
  return options;
}

// Time relative to the bound.
double run(const LineOptions& options) {
  const std::vector<double>& rates = options.bytes_per_s;
  const double bytes = static_cast<double>(options.vector_floats) * sizeof(float);
  const double transfers = 2 * (static_cast<double>(rates.size()) - 1);
  const double slowest = *std::min_element(rates.begin(), rates.end());
  const double sum = std::accumulate(rates.begin(), rates.end(), 0.0);
  LineNetwork network(options);
  const double seconds = network.run();
  CAPTURE(options.seed);
  CHECK(network.ok());
  return seconds / (bytes * std::max(1 / slowest, transfers / sum));
}

const std::vector<double> kEqual4(4, 100);
const std::vector<double> kEqual8(8, 100);
const std::vector<double> kUnequal4 = {200, 200, 50, 50};
const std::vector<double> kUnequal8 = {200, 200, 200, 200, 50, 50, 50, 50};

}  // namespace

TEST_CASE("streams that share lines fairly come near to the bound") {
  CHECK(run(lines(kEqual4, 1)) < 1.05);
  CHECK(run(lines(kEqual8, 1)) < 1.05);
  CHECK(run(lines(kUnequal4, 1)) < 1.08);
  CHECK(run(lines(kUnequal8, 1)) < 1.10);
}

TEST_CASE("streams that get unequal shares of a line are kept in step") {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    for (const auto& [mbit, limit] :
         {std::pair(kEqual4, 1.10), std::pair(kEqual8, 1.10), std::pair(kUnequal4, 1.12), std::pair(kUnequal8, 1.17)}) {
      LineOptions options = lines(mbit, seed);
      options.unfairness = 0.4;
      CHECK(run(options) < limit);
    }
  }
}

TEST_CASE("a line far slower than planned does not make the others rest") {
  LineOptions options = lines(kEqual4, 1);
  options.bytes_per_s[3] /= 4;
  // Its own part alone takes it this long; nobody is faster than a member that waits for all of its results.
  CHECK(run(options) < 1.6);  // the bound for a slow line that has a part of its own
}
