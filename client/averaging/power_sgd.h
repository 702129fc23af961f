// Low-rank averaging (PowerSGD): a gradient's matrices are averaged as products of a few left and right factors, in two
// averagings of short vectors.
//
// Every member holds M, which is its gradient plus the residual of earlier rounds, and right factors Q, with which the
// last round ended. The first averaging is of M Q: its mean is (mean M) Q, because the product is linear. Everybody
// makes that mean orthonormal, with identical bits: P. The second averaging is of M^T P, and of everything that is not
// a matrix worth compressing. With its mean, R, the result is P R^T, which is the mean of M projected on P. That holds
// whoever took part in the first averaging and whatever their Q were; these only decide how much of the mean lies in P.
// So a newcomer needs nobody's Q, and a member that is lost between the two averagings is missing in the mean, and
// nothing else is wrong. R, made orthonormal, is the next Q: each round is one step of a power iteration.
//
// The residual is the part of this member's M that was not expressed, M - P (M^T P)^T, and the part of the second
// contribution that did not arrive. Later rounds make up for it.
// Source: Vogels, Karimireddy and Jaggi 2019 (1905.13727), algorithms 1 and 2.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "client/averaging/round_types.h"
#include "shared/run/low_rank.h"

namespace starling::averaging {

class PowerSgd {
 public:
  // `kept`: the share of the residual, 0 to 1, that the next round makes up for. Holds one vector of layout.floats, and
  // the two that are sent.
  PowerSgd(wire::LowRankLayout layout, float kept, std::uint64_t seed);

  [[nodiscard]] const wire::LowRankLayout& layout() const { return layout_; }

  // This member's contribution to the first averaging. Valid, and unchanged, until project_back().
  std::span<const float> project(std::span<const float> gradient);
  // Takes the result of the first averaging. May be called any number of times: a round that failed begins again with
  // project().
  void take_left(std::span<const float> averaged);
  // This member's contribution to the second averaging. Valid, and unchanged, until the next project() or
  // project_back().
  std::span<const float> project_back(std::span<const float> gradient);
  // Takes the outcome of the second averaging: `result` is the averaged gradient. `gradient` is empty for a member
  // without one; otherwise it is unchanged since project_back().
  void finish(std::span<const float> averaged, const AveragingOutcome& outcome, Rank self,
              std::span<const float> gradient, std::span<float> result);

 private:
  // A row of M.
  std::span<const float> row(const wire::LowRankMatrix& matrix, std::size_t index, std::span<const float> gradient);
  void keep_rest(const wire::LowRankMatrix& matrix, std::span<const float> gradient);
  void next_right(std::span<const float> averaged);
  // Sets those of this member's right factors (and other values sent with them) to zero that were not averaged in.
  void drop_undelivered(const AveragingOutcome& outcome, Rank self);

  wire::LowRankLayout layout_;
  float kept_;
  std::uint64_t seed_;
  std::vector<float> residual_;
  std::vector<float> left_;   // to send, then the orthonormal average
  std::vector<float> right_;  // Q, and room for values that are not in a matrix
  std::vector<float> own_;    // this member's part of R
  std::vector<float> row_;
};

// Makes `count` vectors of equal length orthonormal, in their order. A vector that lies in the span of the others
// becomes zeros. All machines get identical bits.
void orthonormalise(std::span<float> vectors, std::size_t count);

}  // namespace starling::averaging
