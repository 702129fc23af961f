// Who is in a result: the contributor sets of the segments, as an outcome tells them.
#pragma once

#include <cstdint>
#include <vector>

#include "client/averaging/roster.h"
#include "client/averaging/segment_table.h"

namespace starling::averaging {

// Whether the weights of all contributors are known: they are needed to say who gave how much. An unknown weight
// arrives with the member's begin, or with the inventory of a survivor that knows it. A lost member whose begin no
// survivor has counts as nothing, everywhere; `all_told` says that all survivors' inventories are in.
bool contributors_known(const SegmentTable& table, const Roster& roster, bool all_told);

// Fills in samples, draws and weight_total of the outcome.
void count_samples(const SegmentTable& table, const Roster& roster, std::int64_t vector_floats,
                   AveragingOutcome& outcome);

// Owners among the survivors, other than this member, that made results without this member's contribution.
std::vector<Rank> owners_without_self(const SegmentTable& table, const Roster& roster);

// Runs of the coordinates held, in order.
std::vector<ContributorRun> contributor_runs(const SegmentTable& table);

}  // namespace starling::averaging
