#include "coordinator/core/drawn_samples.h"

#include <algorithm>
#include <numeric>

namespace starling::core {

SampleCount count_of(const std::vector<wire::SampleRange>& samples) {
  return std::accumulate(samples.begin(), samples.end(), SampleCount{0},
                         [](SampleCount sum, const wire::SampleRange& range) { return sum + range.count; });
}

SampleCount count_of(const std::vector<DrawnSamples>& drawn) {
  return std::accumulate(drawn.begin(), drawn.end(), SampleCount{0},
                         [](SampleCount sum, const DrawnSamples& one) { return sum + one.range.count; });
}

std::vector<wire::SampleRange> first_of(const std::vector<DrawnSamples>& drawn, SampleCount count) {
  std::vector<wire::SampleRange> samples;
  for (DrawnSamples one : drawn) {
    one.range.count = std::min(one.range.count, count);
    count -= one.range.count;
    if (one.range.count > 0 && !one.passed_over) samples.push_back(one.range);
  }
  return samples;
}

std::vector<wire::SampleRange> cut(const std::vector<wire::SampleRange>& samples, SampleCount from, SampleCount count) {
  std::vector<wire::SampleRange> piece;
  for (wire::SampleRange range : samples) {
    const SampleCount skipped = std::min(from, range.count);
    from -= skipped;
    range.first += skipped;
    range.count = std::min(range.count - skipped, count);
    count -= range.count;
    if (range.count > 0) piece.push_back(range);
  }
  return piece;
}

std::vector<wire::SampleRange> others_than(const std::vector<wire::SampleRange>& samples,
                                           const std::vector<DrawnSamples>& drawn, double place) {
  const SampleCount count = count_of(samples);
  const auto from = 1 + static_cast<SampleCount>(place * static_cast<double>(count - 1));
  std::vector<wire::SampleRange> others = cut(first_of(drawn, count_of(drawn)), from, count);
  return others.empty() ? samples : others;
}

}  // namespace starling::core
