// The most of the vector that each member of a plan may own. Parts follow the lines that members say they have; these
// limits say how far, by what others have seen of a line (upload_book.h).
//
// A line counts as seen when three other accounts have told of it, and more than two thirds of those in the plan. The
// limit of any other line is two equal parts, and half of the vector at most. Where half of the members or more can own
// a part, an equal part is one of all members; elsewhere it is one of those that can own, which carry the others as
// well. The limit of a line that was seen is twice its share of all uplinks of those that can own, and an equal part at
// least: no plan needs more, because who sends and receives a vector beside its part owns less than twice its share of
// the uplinks where all are done together. A member whose account is on probation owns an equal part at most.
//
// Limits that leave some of the vector over are raised alike (swarm/shares.h), so that a single owner owns all of it.
// In a group of three, those on the way to it included, nobody can be seen by three others: nothing is limited there
// but probation.
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <vector>

#include "coordinator/core/member.h"

namespace starling::core {

constexpr double kPartsUnseen = 2;
constexpr std::size_t kSeenByEnough = 3;  // accounts

// Tells whose line enough others have seen: three accounts, and more than two thirds of those in the plan that have a
// voice, or of kFiguresMax. Fewer than a third that lie together, and tell before the others, are then fewer than half
// of those that have told.
class Witnesses {
 public:
  explicit Witnesses(std::span<Member* const> members);
  [[nodiscard]] bool have_seen(const Member& member) const;

 private:
  std::set<AccountId> accounts_;
};

// Returns the share of its group, by member. The plan is of one group, or of this many columns of a grid; `coming`:
// members that may come to it late.
std::vector<double> part_limits(std::span<Member* const> members, std::size_t columns, std::size_t coming);

}  // namespace starling::core
