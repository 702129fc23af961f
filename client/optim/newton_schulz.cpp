#include "client/optim/newton_schulz.h"

#include <algorithm>
#include <cmath>

#include "shared/base/verify.h"

namespace starling::optim {

namespace {

// X ← a X + b (X Xᵀ) X + c (X Xᵀ)² X
constexpr float kA = 3.4445F, kB = -4.7750F, kC = 2.0315F;
constexpr double kNormMin = 1e-7;  // added to the norm, so that a zero matrix is not divided by zero

void transpose(const std::vector<float>& matrix, std::size_t rows, std::vector<float>& out) {
  constexpr std::size_t kTile = 32;  // both sides of a tile stay in the nearest cache
  const std::size_t columns = matrix.size() / rows;
  for (std::size_t top = 0; top < rows; top += kTile) {
    for (std::size_t left = 0; left < columns; left += kTile) {
      for (std::size_t row = top; row < std::min(rows, top + kTile); ++row) {
        for (std::size_t column = left; column < std::min(columns, left + kTile); ++column) {
          out[column * rows + row] = matrix[row * columns + column];
        }
      }
    }
  }
}

// first ← p · first + q · second
void combine(float p, std::vector<float>& first, float q, const std::vector<float>& second) {
  for (std::size_t i = 0; i < first.size(); ++i) first[i] = p * first[i] + q * second[i];
}

}  // namespace

std::vector<float> orthogonalized(std::vector<float> matrix, std::size_t rows, int steps, const Kernels& kernels) {
  VERIFY(rows > 0 && matrix.size() % rows == 0);
  std::size_t columns = matrix.size() / rows;
  std::vector<float> other(matrix.size());
  const bool is_tall = rows > columns;  // the products are smaller when the matrix is transposed
  if (is_tall) {
    transpose(matrix, rows, other);
    matrix.swap(other);
    std::swap(rows, columns);
  }
  const double norm = std::sqrt(kernels.squared_norm(matrix.data(), matrix.size())) + kNormMin;
  const auto scale = static_cast<float>(1 / norm);
  for (float& value : matrix) value *= scale;
  std::vector<float> square(rows * rows), fourth(rows * rows);
  for (int step = 0; step < steps; ++step) {
    transpose(matrix, rows, other);
    kernels.multiply({matrix.data(), other.data(), square.data(), rows, columns, rows});
    kernels.multiply({square.data(), square.data(), fourth.data(), rows, rows, rows});
    combine(kB, square, kC, fourth);
    kernels.multiply({square.data(), matrix.data(), other.data(), rows, rows, columns});
    combine(kA, matrix, 1, other);
  }
  if (!is_tall) return matrix;
  transpose(matrix, rows, other);
  return other;
}

double newton_schulz_flops(std::size_t rows, std::size_t columns, int steps) {
  const auto least = static_cast<double>(std::min(rows, columns));
  const auto most = static_cast<double>(std::max(rows, columns));
  return 2 * least * least * (2 * most + least) * steps;
}

}  // namespace starling::optim
