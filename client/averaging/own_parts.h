// A member's word on its own vector, told with its begin, before it has heard anything of the others: the norm of each
// part, to which its influence is held (norm_bound.h), and a digest of the part's contributions in the form in which
// they are sent. The owner of a part holds the sender to both. Single-threaded.
#pragma once

#include <vector>

#include "client/averaging/codec.h"
#include "client/averaging/round_types.h"
#include "client/averaging/segment_table.h"
#include "shared/base/hash.h"

namespace starling::averaging {

// By the rank of the parts' owners; empty without samples.
struct OwnParts {
  std::vector<float> norms;  // around the center, where the vectors have one
  std::vector<Hash128> digests;
  bool summable = true;  // the part owned by the member itself can be added up
};

// Others get their parts as `codec` encodes them. Without `measures` there are no norms. Reads the vector from memory
// once: a segment stays in the cache until all has been taken from it.
OwnParts own_parts(const SegmentTable& table, Rank self, const RoundVectors& own, Codec codec, bool measures);

// The norm that is said of a part whose values' squares add up to this.
float told_norm(double square);

}  // namespace starling::averaging
