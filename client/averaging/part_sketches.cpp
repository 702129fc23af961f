#include "client/averaging/part_sketches.h"

#include <algorithm>
#include <utility>

#include "shared/base/verify.h"
#include "shared/swarm/measured_members.h"

namespace starling::averaging {

static_assert(wire::kSketchFloats == swarm::kSketchBuckets);

PartSketches::PartSketches(const wire::GroupInfo& group, Rank self, const Hash128& seed) : seed_(seed) {
  const bool audited = !group.audit_commitment.is_zero() && !seed.is_zero();
  if (audited && group.members[self].part_floats > 0) sketches_.resize(group.members.size());
}

void PartSketches::add(Rank rank, std::int64_t position, std::span<const float> values) {
  swarm::add_to_sketch(seed_, position, values, sketches_[rank]);
}

wire::MeasuredParts PartSketches::of(std::span<const Rank> members, std::vector<float> factors) const {
  VERIFY(members.size() == factors.size());
  wire::MeasuredParts measured;
  measured.seed = seed_;
  for (const Rank rank : members) {
    measured.members.push_back(static_cast<std::int64_t>(rank));
    for (const double bucket : sketches_[rank]) measured.sketches.push_back(static_cast<float>(bucket));
  }
  const bool scaled = std::any_of(factors.begin(), factors.end(), [](float factor) { return factor != 1; });
  if (scaled) measured.factors = std::move(factors);
  return measured;
}

wire::MeasuredParts drawn_of(const wire::MeasuredParts& measured, const Hash128& result_digest, std::size_t members) {
  if (members <= wire::kMeasuredMax) return measured;
  const std::vector<std::size_t> drawn = swarm::measured_members(result_digest, members);
  wire::MeasuredParts told;
  told.seed = measured.seed;
  for (std::size_t i = 0; i < measured.members.size(); ++i) {
    const auto rank = static_cast<std::size_t>(measured.members[i]);
    if (!std::binary_search(drawn.begin(), drawn.end(), rank)) continue;
    told.members.push_back(measured.members[i]);
    const auto sketch = measured.sketches.begin() + static_cast<std::ptrdiff_t>(i * wire::kSketchFloats);
    told.sketches.insert(told.sketches.end(), sketch, sketch + wire::kSketchFloats);
    if (!measured.factors.empty()) told.factors.push_back(measured.factors[i]);
  }
  return told;
}

}  // namespace starling::averaging
