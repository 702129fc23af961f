#include "tests/sim/contribution_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "shared/run/fragments.h"

namespace starling::sim {
namespace {

// Single precision, some hundred sums of values of a few units.
constexpr double kTolerance = 1e-3;

}  // namespace

void ContributionCheck::on_batch(std::size_t sum, const rounds::BatchTarget& target, SampleCount samples,
                                 std::span<const float> added) {
  const auto fragments = static_cast<std::size_t>(wire::fragments(manifest_));
  if (target.anew) batches_.clear();
  if (fragments == 1 && target.first) {
    std::erase_if(batches_, [&](const Batch& batch) { return batch.sum == sum; });
  }
  batches_.push_back({samples, {added.begin(), added.end()}, sum, false, std::vector<std::uint8_t>(fragments, 0)});
}

bool ContributionCheck::is_in(const Batch& batch, std::size_t fragment) const {
  return batch.sent[fragment] == 0 && (batch.sent.size() > 1 || batch.sum == present_);
}

std::string ContributionCheck::on_contributed(RoundIndex round, SampleCount samples,
                                              const rounds::RoundPayload::Own& own) {
  const wire::Fragment fragment = wire::fragment_of(manifest_, round);
  const auto number = static_cast<std::size_t>(fragment.number);
  contributed_ = true;
  SampleCount added = 0;
  std::vector<double> sum(fragment.count);
  for (Batch& batch : batches_) {
    batch.contributed = is_in(batch, number);
    if (!batch.contributed) continue;
    added += batch.samples;
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += batch.added[fragment.begin + i];
  }
  // A fragment brings its mean over all rounds since its last; a round's whole sum may count samples that add nothing.
  const bool is_mean = wire::fragments(manifest_) > 1 && added > 0;
  const auto weight = static_cast<double>(own.samples);
  const double share = weight / static_cast<double>(is_mean ? added : samples);
  for (std::size_t i = 0; i < sum.size(); ++i) {
    const double expected = share * sum[i];
    if (std::abs(own.sum[i] - expected) <= kTolerance * (weight + std::abs(expected))) continue;
    return fmt::format("round {}: coordinate {} of a contribution of {} samples is {}, and its batches have added {}",
                       round, fragment.begin + i, own.samples, own.sum[i], expected);
  }
  return {};
}

void ContributionCheck::on_stepped(RoundIndex round) {
  const auto number = static_cast<std::size_t>(wire::fragment_of(manifest_, round).number);
  for (Batch& batch : batches_) {
    if (contributed_ && batch.contributed) batch.sent[number] = 1;
    batch.contributed = false;
  }
  if (wire::fragments(manifest_) == 1) {  // sums begin with each round
    std::erase_if(batches_, [this](const Batch& batch) { return batch.sum == present_; });
  }
  std::erase_if(batches_, [](const Batch& batch) {
    return std::all_of(batch.sent.begin(), batch.sent.end(), [](std::uint8_t sent) { return sent != 0; });
  });
  contributed_ = false;
  present_ = 1 - present_;
}

}  // namespace starling::sim
