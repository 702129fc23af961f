// The rounds that ended here most recently. A member that begins in one of them later has to learn that nobody is there
// any more (frame over); otherwise it waits until its patience ends.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>

#include "shared/protocol/group_info.h"

namespace starling::averaging {

class EndedRounds {
 public:
  static constexpr std::size_t kKept = 64;  // rounds of 0.1 s, for the time that a member takes to start
  // The oldest round is forgotten when there are more than `kept`.
  explicit EndedRounds(std::size_t kept = kKept) : kept_(kept) {}
  void add(const wire::GroupInfo& group) {
    keep(group.id);
    if (!group.grid) return;
    keep(group.grid->heads_id);
    keep(group.grid->spread_id);
  }
  [[nodiscard]] bool has(const GroupId& group) const {
    return std::find(groups_.begin(), groups_.end(), group) != groups_.end();
  }

 private:
  void keep(const GroupId& group) {
    if (groups_.size() == kept_) groups_.pop_front();
    groups_.push_back(group);
  }
  std::size_t kept_;
  std::deque<GroupId> groups_;
};

}  // namespace starling::averaging
