#include "client/serving/merge.h"

#include "shared/base/verify.h"

namespace starling::serving {
namespace {

// Calls `take(share, first, count)` for the units of each share at each expert, in the order of the merged ones. first:
// their first one among the share's own.
template <typename Take>
void for_each_block(std::span<const Share> shares, const Take& take) {
  std::vector<std::size_t> taken(shares.size(), 0);
  const std::size_t experts = shares.empty() ? 0 : shares.front().counts.size();
  for (std::size_t expert = 0; expert < experts; ++expert) {
    for (std::size_t share = 0; share < shares.size(); ++share) {
      const auto count = static_cast<std::size_t>(shares[share].counts[expert]);
      take(share, taken[share], count);
      taken[share] += count;
    }
  }
}

}  // namespace

Merged merge(std::span<const Share> shares, std::size_t width) {
  Merged merged;
  std::vector<std::int32_t> first_rows;
  for (const Share& share : shares) {
    VERIFY(share.counts.size() == shares.front().counts.size());
    first_rows.push_back(static_cast<std::int32_t>(merged.inputs.size() / width));
    merged.inputs.insert(merged.inputs.end(), share.inputs.begin(), share.inputs.end());
    merged.counts.resize(share.counts.size());
    for (std::size_t expert = 0; expert < share.counts.size(); ++expert) merged.counts[expert] += share.counts[expert];
  }
  for_each_block(shares, [&](std::size_t share, std::size_t first, std::size_t count) {
    for (const std::int32_t row : shares[share].rows.subspan(first, count)) {
      merged.rows.push_back(first_rows[share] + row);
    }
    if (shares[share].upstream.empty()) return;
    const std::span<const float> block = shares[share].upstream.subspan(first * width, count * width);
    merged.upstream.insert(merged.upstream.end(), block.begin(), block.end());
  });
  return merged;
}

std::vector<std::vector<float>> split_results(std::span<const Share> shares, std::span<const float> results,
                                              std::size_t width) {
  std::vector<std::vector<float>> parts(shares.size());
  for (std::size_t share = 0; share < shares.size(); ++share) parts[share].reserve(shares[share].rows.size() * width);
  for_each_block(shares, [&](std::size_t share, std::size_t, std::size_t count) {
    VERIFY(results.size() >= count * width);
    const std::span<const float> block = results.first(count * width);
    parts[share].insert(parts[share].end(), block.begin(), block.end());
    results = results.subspan(count * width);
  });
  VERIFY(results.empty());
  return parts;
}

std::vector<std::vector<float>> split_gradient(std::span<const Share> shares, std::span<const float> gradient) {
  std::vector<std::vector<float>> parts;
  for (const Share& share : shares) {
    VERIFY(gradient.size() >= share.inputs.size());
    const std::span<const float> block = gradient.first(share.inputs.size());
    parts.emplace_back(block.begin(), block.end());
    gradient = gradient.subspan(share.inputs.size());
  }
  VERIFY(gradient.empty());
  return parts;
}

}  // namespace starling::serving
