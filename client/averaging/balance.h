// Keeps a member's links in step. What a link carries in a round is known beforehand; one that gets more of the common
// line than its share only makes the others late, and with them everybody who waits for what they carry. So a link
// that runs ahead rests until the last one has caught up. One that stays behind all the same is held back by something
// else than this line, and nobody waits for it any more.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "client/averaging/all_reduce.h"

namespace starling::averaging {

class Balance {
 public:
  // `planned`: segments that each link will carry; 0: neither rests nor is waited for.
  explicit Balance(std::vector<std::uint32_t> planned) : links_(planned.size()), planned_(std::move(planned)) {}

  // So many of its segments have gone out, or need not any more.
  void set_sent(TimePoint now, Rank to, std::uint32_t segments);
  // Whether the link should rest now. `open`: whether a link has something to send.
  bool rests(TimePoint now, Rank to, const std::function<bool(Rank)>& open);
  // Links that have been resting: the one they waited for has moved. They may ask again.
  [[nodiscard]] std::vector<Rank> take_resting();
  // When a rest ends at the latest; kNever when nobody rests.
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
