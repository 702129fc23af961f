// Samples of a run's epochs by their fate: the coordinator decides it (coordinator/core/lease_book.h), and the database
// keeps it.
#pragma once

#include <cstdint>

#include "shared/base/ids.h"

namespace starling {

// Consecutive samples of an epoch that a peer's contribution has counted.
struct CountedSamples {
  PeerId peer;
  std::int64_t epoch = 0;
  std::int64_t first = 0;
  SampleCount count = 0;
  friend bool operator==(const CountedSamples&, const CountedSamples&) = default;
};

// A sample that a peer of the account could not use, under the lease that is good until that round.
struct SampleTried {
  PeerId peer;
  AccountId account = 0;
  std::int64_t epoch = 0;
  std::int64_t place = 0;
  RoundIndex last_round = 0;
};

// A sample of an epoch that is not waited for any more, because its gradient cannot be had.
struct SampleSetAside {
  std::int64_t epoch = 0;
  std::int64_t place = 0;
  friend bool operator==(const SampleSetAside&, const SampleSetAside&) = default;
};

}  // namespace starling
