// Keeps a member's links in step. The data that a link carries in a round is known beforehand. A link that takes more
// than its share of the common line only makes the others late, and with them everybody who waits for their data. So a
// link that runs ahead rests until the last one has caught up. A link that stays behind all the same is held back by
// something other than this line, and nobody waits for it any more.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "client/averaging/round_types.h"

namespace starling::averaging {

class Balance {
 public:
  // `planned`: the number of segments that each link will carry. A link with 0 neither rests nor is waited for.
  explicit Balance(std::vector<std::uint32_t> planned) : links_(planned.size()), planned_(std::move(planned)) {}

  // `segments` of the link's segments have gone out, or need not go out any more.
  void set_sent(TimePoint now, Rank to, std::uint32_t segments);
  // Whether the link should rest now. `open`: whether a link has something to send.
  bool rests(TimePoint now, Rank to, const std::function<bool(Rank)>& open);
  // Links that were resting and may ask again, because the link they waited for has moved.
  [[nodiscard]] std::vector<Rank> take_resting();
  // The latest time at which a rest ends; kNever when no link rests.
  [[nodiscard]] TimePoint wake_at() const;

 private:
  struct Link {
    std::uint32_t sent = 0;
    bool behind = false;  // too far to be waited for
    bool resting = false;
    TimePoint rest_until = kNever;
  };
  [[nodiscard]] double lead(Rank ahead, Rank behind) const;

  std::vector<Link> links_;
  std::vector<std::uint32_t> planned_;
  std::size_t resting_ = 0;
  TimePoint began_ = kNever;
};

}  // namespace starling::averaging
