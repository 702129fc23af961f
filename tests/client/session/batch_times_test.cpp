#include "client/session/batch_times.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

using starling::session::BatchTimes;

namespace {

// Batches of 4 samples, of a tenth of a second each, give or take `spread` of it.
void compute(BatchTimes& times, int batches, double spread, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::uniform_real_distribution<double> off(-spread * std::sqrt(3.0), spread * std::sqrt(3.0));
  for (int i = 0; i < batches; ++i) times.add(4, 0.4 * (1 + off(rng)));
}

}  // namespace

TEST_CASE("what varies by nothing has no jitter, whatever the size of batches") {
  BatchTimes times;
  for (int i = 1; i <= 100; ++i) times.add(1 + i % 4, 0.1 * (1 + i % 4));
  CHECK(times.jitter() < 1e-7);
}

TEST_CASE("jitter is not known from a handful of batches, and of the first few it is their own deviation") {
  BatchTimes times;
  for (int i = 0; i < BatchTimes::kBatchesMin - 1; ++i) times.add(1, i % 2 == 0 ? 0.5 : 1.5);
  CHECK(times.jitter() == 0);
  times.add(1, 1.5);
  CHECK(times.jitter() == doctest::Approx(0.5));
}

TEST_CASE("jitter is that of the last minutes, not of hours ago") {
  BatchTimes times;
  double mean = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    BatchTimes each;
    compute(each, 300, 0.2, seed);
    mean += each.jitter() / 40;
  }
  CHECK(mean == doctest::Approx(0.2).epsilon(0.03));
  compute(times, 1000, 0.5, 1);
  compute(times, 10 * BatchTimes::kMemory, 0.01, 2);
  CHECK(times.jitter() < 0.02);
}
