#include "client/optim/newton_schulz.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "shared/base/permutation.h"

using namespace starling;
using namespace starling::optim;

namespace {

std::vector<float> noise(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(static_cast<double>(mix64(i) >> 11) * 0x1p-53 - 0.5);
  }
  return values;
}

}  // namespace

TEST_CASE("a diagonal matrix keeps its signs and gets values of about one") {
  constexpr std::size_t kSize = 6;
  std::vector<float> matrix(kSize * kSize);
  for (std::size_t i = 0; i < kSize; ++i) {
    matrix[i * kSize + i] = (i % 2 == 0 ? 1.0F : -1.0F) * static_cast<float>(i + 1) * 1e-3F;
  }
  const std::vector<float> out = orthogonalized(matrix, kSize, 5, kernels());
  for (std::size_t row = 0; row < kSize; ++row) {
    for (std::size_t column = 0; column < kSize; ++column) {
      const float value = out[row * kSize + column];
      if (row != column) {
        CHECK(value == 0);
        continue;
      }
      CHECK(std::signbit(value) == (row % 2 == 1));
      CHECK(std::abs(value) > 0.6F);
      CHECK(std::abs(value) < 1.3F);
    }
  }
}

TEST_CASE("a tall matrix gives the transpose of what the wide one gives") {
  constexpr std::size_t kRows = 50, kColumns = 20;
  const std::vector<float> tall = noise(kRows * kColumns);
  std::vector<float> wide(tall.size());
  for (std::size_t i = 0; i < tall.size(); ++i) wide[i % kColumns * kRows + i / kColumns] = tall[i];
  const std::vector<float> from_tall = orthogonalized(tall, kRows, 5, kernels());
  const std::vector<float> from_wide = orthogonalized(wide, kColumns, 5, kernels());
  bool same = true;
  for (std::size_t i = 0; i < tall.size(); ++i)
    same = same && from_tall[i] == from_wide[i % kColumns * kRows + i / kColumns];
  CHECK(same);
}

TEST_CASE("nothing stays nothing") {
  const std::vector<float> out = orthogonalized(std::vector<float>(12), 3, 5, kernels());
  CHECK(std::all_of(out.begin(), out.end(), [](float value) { return value == 0; }));
}
