// Which copies of runs' states are kept: many of the last hours, few of the last week, so that the operator can go back
// behind damage that was noticed late. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "db/stores/records.h"
#include "shared/base/clock.h"

namespace starling::api {

constexpr std::size_t kNewestCopiesKept = 2;  // per run, whatever their size

// Returns the copies that are to be removed. Each run keeps its newest two, the newest one of each hour of the last
// day, and the newest one of each day of the last week. Where all of these together have more than `bytes_max` bytes,
// the oldest go first, but never one of a run's newest two. Copies that share a file count once.
std::vector<db::KeptCheckpoint> outdated_copies(std::vector<db::KeptCheckpoint> copies, WallTime now,
                                                std::int64_t bytes_max);

}  // namespace starling::api
