// The pieces in which parameters are averaged by gossip between rounds (LocalOptions::partners), each by itself: whole
// tensors, from the last layer to the first, which is the order in which a backward pass completes their gradients
// (arXiv 2410.11998; PyTorch DDP, 2006.15704, section 3.2.3). All members have equal buckets.
#pragma once

#include <cstddef>
#include <vector>

#include "shared/run/run_manifest.h"

namespace starling::wire {

// 4 MiB: a handshake on a home line takes about a tenth of the time that these take.
constexpr std::size_t kBucketFloatsLeast = std::size_t{1} << 20;
constexpr std::size_t kBucketsMost = 16;

// Consecutive floats of the flat vector.
struct Bucket {
  std::size_t number = 0;  // in the order in which gradients are completed
  std::size_t begin = 0;
  std::size_t count = 0;
  friend bool operator==(const Bucket&, const Bucket&) = default;
};

// Returns the buckets in the order of their numbers. Only the last one may have less than kBucketFloatsLeast.
std::vector<Bucket> buckets(const ModelOptions& model);

}  // namespace starling::wire
