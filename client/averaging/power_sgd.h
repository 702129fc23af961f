// A gradient's matrices averaged as products of a few left and right factors, in two averagings of short vectors.
//
// Every member holds M, its gradient and what earlier rounds could not say, and right factors Q, which are what the
// last round ended with. The first averaging is of M Q: the mean of these is (mean M) Q, as it is linear. Everybody
// makes it orthonormal, alike to the bit: P. The second averaging is of M^T P, and of everything that is no matrix
// worth it; with its mean, R, the result is P R^T: the mean of M, projected on P. That holds whoever took part in the
// first averaging and whatever their Q were, which only decide how much of the mean lies in P: so a newcomer needs
// nobody's Q, and who is lost between the two averagings is missing in the mean, and nothing else. R, orthonormal, is
// the next Q: one step of a power iteration a round.
//
// What was not said of this member's M, M - P (M^T P)^T, and what of it did not arrive, is the residual: it is made up
// for in later rounds.
// Source: Vogels, Karimireddy and Jaggi 2019 (1905.13727), algorithms 1 and 2.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "client/averaging/all_reduce.h"
#include "shared/wire/low_rank.h"

namespace starling::averaging {

class PowerSgd {
 public:
  // `kept`: the share of the residual, 0 to 1, that the next round makes up for. Holds one vector of layout.floats, and
  // the two that travel.
  PowerSgd(wire::LowRankLayout layout, float kept, std::uint64_t seed);

  [[nodiscard]] const wire::LowRankLayout& layout() const { return layout_; }

  // What this member contributes to the first averaging. Valid, and unchanged, until project_back().
  std::span<const float> project(std::span<const float> gradient);
  // The first averaging has ended with this. Any number of times: a round that failed is begun anew with project().
  void take_left(std::span<const float> averaged);
  // What this member contributes to the second. Valid, and unchanged, until the next project() or project_back().
  std::span<const float> project_back(std::span<const float> gradient);
  // The second has ended with this: `result` is the averaged gradient. Without a gradient of its own, a member's
  // `gradient` is empty; otherwise it is as it was in project_back().
  void finish(std::span<const float> averaged, const AveragingOutcome& outcome, Rank self,
              std::span<const float> gradient, std::span<float> result);

 private:
  // A row of M.
  std::span<const float> row(const wire::LowRankMatrix& matrix, std::size_t index, std::span<const float> gradient);
  void keep_rest(const wire::LowRankMatrix& matrix, std::span<const float> gradient);
  void next_right(std::span<const float> averaged);
  // Sets those of this member's right factors (and what else it sent) to zero that nobody averaged.
  void drop_undelivered(const AveragingOutcome& outcome, Rank self);

  wire::LowRankLayout layout_;
  float kept_;
  std::uint64_t seed_;
  std::vector<float> residual_;
  std::vector<float> left_;   // to send, then the orthonormal average
  std::vector<float> right_;  // Q, and room for what is no matrix
  std::vector<float> own_;    // this member's part of R
  std::vector<float> row_;
};

// Makes `count` vectors, each as long, orthonormal in their order; one that lies in the others' span becomes zeros. The
// same bits on every machine.
void orthonormalise(std::span<float> vectors, std::size_t count);

}  // namespace starling::averaging
