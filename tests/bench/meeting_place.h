// Where the groups of virtual volunteers average: what a group agrees on, without its frames. Single-threaded.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "client/averaging/round_types.h"
#include "client/rounds/leg.h"
#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/protocol/group_info.h"
#include "tests/bench/event_loop.h"

namespace starling::bench {

// Meetings of groups. Everybody that comes before a meeting closes is averaged, with all its samples. Values travel as
// they are (Codec::fp32), and owners measure what they receive where the plan has audits.
class MeetingPlace {
 public:
  using Done = std::function<void(const averaging::AveragingOutcome&)>;
  explicit MeetingPlace(EventLoop& loop) : loop_(loop) {}
  // `done` is called later, never from within this call; until then the leg's vectors stay as they are.
  void come(const rounds::Leg& leg, Done done);

 private:
  struct Place {
    rounds::Leg leg;
    Done done;
  };
  struct Meeting {
    std::vector<std::optional<Place>> places;  // by rank; nothing: absent
    std::size_t missing = 0;
    bool closed = false;
    TimePoint began{};
  };
  void close(const wire::GroupInfo& group);

  EventLoop& loop_;
  std::map<GroupId, Meeting> meetings_;  // one per round
};

}  // namespace starling::bench
