// An owner's sketches of what others contribute to its part (shared/protocol/audit.h): of the values as they were
// decoded, before anything is scaled, with a seed that nobody else knows while the averaging goes on.
//
// Contributions arrive segment by segment, in whatever order. Each segment is sketched by itself, and the sketches are
// added up as doubles: the order shows in their last bits, and seldom in the floats that are told. Single-threaded.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "client/averaging/round_types.h"
#include "shared/protocol/audit.h"
#include "shared/swarm/sketch.h"

namespace starling::averaging {

class PartSketches {
 public:
  // Measures nothing if the plan has no audits, if the member's part is empty, or without a seed, which is zero then.
  // Memory: 512 bytes a member.
  PartSketches(const wire::GroupInfo& group, Rank self, const Hash128& seed);

  [[nodiscard]] bool on() const { return !sketches_.empty(); }
  // A contribution to one segment, which begins at this coordinate of the whole vector; once each.
  void add(Rank rank, std::int64_t position, std::span<const float> values);
  // Tells of these members, in ascending order; `factors`: by place like them.
  [[nodiscard]] wire::MeasuredParts of(std::span<const Rank> members, std::vector<float> factors) const;

 private:
  Hash128 seed_;
  std::vector<swarm::Sketch> sketches_;  // by rank
};

// Leaves those members out of what was measured whom a group of that many does not tell of (swarm::measured_members).
wire::MeasuredParts drawn_of(const wire::MeasuredParts& measured, const Hash128& result_digest, std::size_t members);

}  // namespace starling::averaging
