#include "client/averaging/power_sgd.h"

#include <algorithm>
#include <cmath>

#include "client/averaging/codec.h"
#include "client/averaging/kernels.h"
#include "shared/base/permutation.h"

namespace starling::averaging {
namespace {

using wire::LowRankMatrix;

// The relative length, up to rounding, that remains of a vector that lies in the span of those before it.
constexpr double kDependent = 1e-5;

// Adds one product after the other, in doubles, so that every machine gets an identical sum.
double product(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += double{a[i]} * b[i];
  return sum;
}

// Uniform in [-1, 1).
float random_value(std::uint64_t seed, std::uint64_t index) {
  return static_cast<float>(mix64(seed ^ mix64(index)) >> 40) * 0x1p-23F - 1.0F;
}

bool is_zero(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float value) { return value == 0; });
}

}  // namespace

void orthonormalise(std::span<float> vectors, std::size_t count) {
  const std::size_t size = vectors.size() / count;
  for (std::size_t k = 0; k < count; ++k) {
    const std::span<float> vector = vectors.subspan(k * size, size);
    const double before = std::sqrt(product(vector, vector));
    for (int pass = 0; pass < 2; ++pass) {  // twice is enough
      for (std::size_t earlier = 0; earlier < k; ++earlier) {
        const std::span<const float> other = vectors.subspan(earlier * size, size);
        const double along = product(other, vector);
        for (std::size_t i = 0; i < size; ++i) vector[i] = static_cast<float>(vector[i] - along * other[i]);
      }
    }
    const double length = std::sqrt(product(vector, vector));
    const double factor = length > kDependent * before ? 1 / length : 0;
    for (float& value : vector) value = static_cast<float>(value * factor);
  }
}

PowerSgd::PowerSgd(wire::LowRankLayout layout, float kept, std::uint64_t seed)
    : layout_(std::move(layout)),
      kept_(kept),
      seed_(seed),
      residual_(layout_.floats),
      left_(layout_.left_floats),
      right_(layout_.right_floats),
      own_(layout_.right_floats) {
  VERIFY(kept >= 0 && kept <= 1);
  next_right(right_);
}

std::span<const float> PowerSgd::row(const LowRankMatrix& matrix, std::size_t index, std::span<const float> gradient) {
  row_.resize(matrix.columns);
  const std::size_t begin = matrix.offset + index * matrix.columns;
  for (std::size_t i = 0; i < matrix.columns; ++i) row_[i] = kept_ * residual_[begin + i] + gradient[begin + i];
  return row_;
}

std::span<const float> PowerSgd::project(std::span<const float> gradient) {
  VERIFY(gradient.size() == layout_.floats);
  for (const LowRankMatrix& matrix : layout_.matrices) {
    for (std::size_t i = 0; i < matrix.rows; ++i) {
      const std::span<const float> values = row(matrix, i, gradient);
      for (std::size_t k = 0; k < layout_.rank; ++k) {
        left_[matrix.left_at + k * matrix.rows + i] =
            kernels().dot(values.data(), right_.data() + matrix.right_at + k * matrix.columns, matrix.columns);
      }
    }
  }
  if (summable(left_) || is_zero(residual_)) return left_;
  std::fill(residual_.begin(), residual_.end(), 0.0F);
  return project(gradient);
}

void PowerSgd::take_left(std::span<const float> averaged) {
  VERIFY(averaged.size() == left_.size());
  std::copy(averaged.begin(), averaged.end(), left_.begin());
  for (const LowRankMatrix& matrix : layout_.matrices) {
    orthonormalise(std::span(left_).subspan(matrix.left_at, layout_.rank * matrix.rows), layout_.rank);
  }
}

std::span<const float> PowerSgd::project_back(std::span<const float> gradient) {
  VERIFY(gradient.size() == layout_.floats);
  std::fill(own_.begin(), own_.end(), 0.0F);
  for (const LowRankMatrix& matrix : layout_.matrices) {
    for (std::size_t i = 0; i < matrix.rows; ++i) {
      const std::span<const float> values = row(matrix, i, gradient);
      for (std::size_t k = 0; k < layout_.rank; ++k) {
        const float factor = left_[matrix.left_at + k * matrix.rows + i];
        kernels().add_scaled(values.data(), factor, own_.data() + matrix.right_at + k * matrix.columns, matrix.columns);
      }
    }
  }
  for (const wire::PlainRun& run : layout_.plain) {
    for (std::size_t i = 0; i < run.count; ++i) {
      own_[run.right_at + i] = kept_ * residual_[run.offset + i] + gradient[run.offset + i];
    }
  }
  return own_;
}

void PowerSgd::drop_undelivered(const AveragingOutcome& outcome, Rank self) {
  std::size_t end = 0;
  for (const ContributorRun& run : outcome.contributors) {
    const auto begin = static_cast<std::size_t>(run.begin);
    std::fill(own_.begin() + static_cast<std::ptrdiff_t>(end), own_.begin() + run.begin, 0.0F);
    end = begin + static_cast<std::size_t>(run.floats);
    if (!run.members.test(self)) {
      std::fill(own_.begin() + run.begin, own_.begin() + static_cast<std::ptrdiff_t>(end), 0.0F);
    }
  }
  std::fill(own_.begin() + static_cast<std::ptrdiff_t>(end), own_.end(), 0.0F);
}

void PowerSgd::keep_rest(const LowRankMatrix& matrix, std::span<const float> gradient) {
  for (std::size_t i = 0; i < matrix.rows; ++i) {
    const std::span<const float> values = row(matrix, i, gradient);
    float* const rest = residual_.data() + matrix.offset + i * matrix.columns;
    std::copy(values.begin(), values.end(), rest);
    for (std::size_t k = 0; k < layout_.rank; ++k) {
      const float factor = left_[matrix.left_at + k * matrix.rows + i];
      kernels().add_scaled(own_.data() + matrix.right_at + k * matrix.columns, -factor, rest, matrix.columns);
    }
  }
}

void PowerSgd::finish(std::span<const float> averaged, const AveragingOutcome& outcome, Rank self,
                      std::span<const float> gradient, std::span<float> result) {
  VERIFY(averaged.size() == right_.size() && result.size() == layout_.floats);
  if (!gradient.empty()) {
    drop_undelivered(outcome, self);
    for (const LowRankMatrix& matrix : layout_.matrices) keep_rest(matrix, gradient);
    for (const wire::PlainRun& run : layout_.plain) {
      for (std::size_t i = 0; i < run.count; ++i) {
        float& rest = residual_[run.offset + i];
        rest = kept_ * rest + gradient[run.offset + i] - own_[run.right_at + i];
      }
    }
  }
  std::fill(result.begin(), result.end(), 0.0F);
  for (const LowRankMatrix& matrix : layout_.matrices) {
    for (std::size_t i = 0; i < matrix.rows; ++i) {
      for (std::size_t k = 0; k < layout_.rank; ++k) {
        const float factor = left_[matrix.left_at + k * matrix.rows + i];
        kernels().add_scaled(averaged.data() + matrix.right_at + k * matrix.columns, factor,
                             result.data() + matrix.offset + i * matrix.columns, matrix.columns);
      }
    }
  }
  for (const wire::PlainRun& run : layout_.plain) {
    std::copy_n(averaged.begin() + static_cast<std::ptrdiff_t>(run.right_at), run.count,
                result.begin() + static_cast<std::ptrdiff_t>(run.offset));
  }
  next_right(averaged);
}

// A factor that no longer has a direction of its own gets a new random one.
void PowerSgd::next_right(std::span<const float> averaged) {
  if (averaged.data() != right_.data()) std::copy(averaged.begin(), averaged.end(), right_.begin());
  for (const LowRankMatrix& matrix : layout_.matrices) {
    const std::span<float> factors = std::span(right_).subspan(matrix.right_at, layout_.rank * matrix.columns);
    orthonormalise(factors, layout_.rank);
    bool complete = true;
    for (std::size_t begin = 0; begin < factors.size(); begin += matrix.columns) {
      const std::span<float> factor = factors.subspan(begin, matrix.columns);
      if (!is_zero(factor)) continue;
      complete = false;
      for (std::size_t i = 0; i < factor.size(); ++i) {
        factor[i] = random_value(seed_, matrix.right_at + begin + i);
      }
    }
    if (!complete) orthonormalise(factors, layout_.rank);
  }
}

}  // namespace starling::averaging
