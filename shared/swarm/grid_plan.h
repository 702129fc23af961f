// A round of several groups: columns, the heads of the columns, and the columns again (wire::GridPlan). Every
// coordinate of the result is computed in one place, by the heads, so no fault makes two results of a round; and every
// column is there with all its weight, half of it carried by each of its heads, whatever the columns' sizes.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "shared/swarm/plan.h"

namespace starling::swarm {

constexpr std::size_t kHeadsPerColumn = 2;
// A column with fewer members has no majority after it loses one.
constexpr std::size_t kColumnMembersMin = 3;

// A plan for all columns.
struct GridRound {
  std::vector<wire::GroupInfo> columns;  // each with its grid, which names all heads
  double averaging_s = 0;                // until everybody holds the result
};

// A member's line beside its own word.
struct SeenLine {
  double bytes_per_s = 0;  // rate of its uplink that others have seen; 0: too few have seen it
  bool voice = true;       // its account votes
};
using SeenLines = std::map<PeerId, SeenLine>;  // others' lines were not seen, and their accounts vote

// Returns the rate of a usual member in its slower direction: the median of those whose accounts vote, each as it says,
// and no more than others have seen. 1 MB/s while none has been measured.
double usual_line(std::span<const wire::MemberInfo> members, const SeenLines& seen = {});

// Returns the number of columns that these members can have when none may have more than `size_max`: at most one for
// each that owns parts (plan_round), and for every kColumnMembersMin members. Below 2 there is no grid.
std::size_t columns_of(std::span<const wire::MemberInfo> members, std::size_t size_max);

// Plans `columns` of equal size, give or take one, dealt again for every nonce; the members with the best lines that
// others have seen are their heads. Like plan_round, but nobody is demoted. `columns` is 2 to columns_of(members, 1).
GridRound plan_grid(std::span<const wire::MemberInfo> members, const PlanOptions& options, std::size_t columns,
                    const SeenLines& seen = {});

// Returns a member's view of the plan: without the heads when it is none of them.
wire::GroupInfo place_in(const wire::GroupInfo& column, const PeerId& member);

// Returns parts that begin at multiples of the segments' length, in these proportions.
std::vector<std::int64_t> aligned_parts(std::int64_t vector_floats, std::int64_t segment_floats,
                                        std::span<const double> shares);

// Returns an id derived from `of`: equal on every machine.
GroupId derived_id(const GroupId& of, std::int64_t tag, std::int64_t number);

// The ids of the groups in which a column's members average.
struct StageIds {
  GroupId column;
  GroupId heads;  // one group for all columns
  GroupId spread;
};
StageIds stage_ids(const GroupId& grid, std::size_t column);

}  // namespace starling::swarm
