#include "client/averaging/own_sketches.h"

#include <algorithm>
#include <vector>

#include "client/averaging/codec.h"
#include "client/averaging/segment_table.h"
#include "shared/base/verify.h"
#include "shared/swarm/measured_members.h"
#include "shared/swarm/owner_check.h"
#include "shared/swarm/sketch.h"

namespace starling::averaging {
namespace {

void append_short(const swarm::Sketch& sketch, std::vector<float>& to) {
  for (const float bucket : swarm::shortened(sketch)) to.push_back(bucket);
}

// Sketches a part segment by segment, after it has gone through the codec and back.
swarm::Sketch sketch_of(const SegmentTable& table, Rank owner, Codec codec, std::span<const float> vector,
                        const Hash128& seed) {
  swarm::Sketch sketch{};
  std::vector<std::uint8_t> encoded;
  std::vector<float> decoded;
  for (SegmentIndex segment = table.first(owner); segment < table.first(owner + 1); ++segment) {
    const Segment& at = table[segment];
    std::span<const float> values = vector.subspan(static_cast<std::size_t>(at.begin), at.floats);
    if (codec != Codec::fp32) {
      encoded.resize(encoded_bytes(codec, values.size()));
      decoded.resize(values.size());
      encode(codec, values, encoded);
      VERIFY(decode(codec, encoded, decoded).ok());  // owners have accepted it
      values = decoded;
    }
    swarm::add_to_sketch(seed, at.begin, values, sketch);
  }
  return sketch;
}

}  // namespace

wire::OwnSketches own_sketches(const wire::GroupInfo& plan, Rank self, std::span<const float> contribution,
                               std::span<const float> result, const Hash128& seed) {
  VERIFY(self < plan.members.size());
  VERIFY(contribution.empty() || std::ssize(contribution) == plan.vector_floats);
  VERIFY(result.empty() || std::ssize(result) == plan.vector_floats);
  const SegmentTable table(plan);
  wire::OwnSketches own;
  own.round = plan.round;
  const Codec codec = wire::contribution_codec(plan, self);
  const std::vector<std::size_t> drawn = swarm::sketched_parts(seed, plan);
  swarm::Sketch whole{};
  for (Rank owner = 0; owner < plan.members.size(); ++owner) {
    const bool is_drawn = std::ranges::binary_search(drawn, owner);
    if (!contribution.empty()) {
      const Codec way = owner == self ? Codec::fp32 : codec;
      const swarm::Sketch sketch = sketch_of(table, owner, way, contribution, seed);
      for (std::size_t bucket = 0; bucket < whole.size(); ++bucket) whole[bucket] += sketch[bucket];
      if (is_drawn) append_short(sketch, own.contributed);
    }
    if (is_drawn && !result.empty()) append_short(sketch_of(table, owner, Codec::fp32, result, seed), own.result);
  }
  if (contribution.empty()) return own;
  for (const double bucket : whole) own.whole.push_back(static_cast<float>(bucket));
  return own;
}

}  // namespace starling::averaging
