// Checks that must hold after any round, whatever happened in it. Each returns an empty string, or a description of the
// error.
#pragma once

#include <string>
#include <vector>

#include "tests/client/averaging/in_memory_group.h"

namespace starling::averaging {

// Ranks, dead or alive, whose round ended with values (averaged or minority).
std::vector<Rank> finishers(const InMemoryGroup& group);

// Members that finished (and had a chance to hear of each other) hold identical bits, digests, contributor sets and
// sample counts.
std::string disagreement(const InMemoryGroup& group);

// Every coordinate of `rank` is the weighted mean over exactly the members that the outcome names for it (computed in
// double, compared within `tolerance`), and the sample counts follow from those sets.
std::string untruth(InMemoryGroup& group, Rank rank, double tolerance = 1e-5);
// The first half of untruth(): the values.
std::string untrue_values(InMemoryGroup& group, Rank rank, double tolerance = 1e-5);

// Both disagreement() and untruth() for everybody that finished; also checks that everybody alive has an outcome.
std::string wrong(InMemoryGroup& group, double tolerance = 1e-5);

}  // namespace starling::averaging
