// Chooses one of a run's mirrors. A mirror that fails is left alone for a while, and longer each time it fails again;
// none is given up for good. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "shared/base/clock.h"

namespace starling::daemon {

class MirrorChoice {
 public:
  enum class Failure { unreachable, wrong_bytes };
  // `mirrors`: their number, at least 1. The seed spreads volunteers over them.
  MirrorChoice(std::size_t mirrors, std::uint64_t seed);

  // Returns the mirror to ask now: always one and the same while it works. None while all are left alone.
  [[nodiscard]] std::optional<std::size_t> choose(TimePoint now) const;
  // Returns when choose() has an answer: `now`, or later.
  [[nodiscard]] TimePoint next_try(TimePoint now) const;
  void on_success(std::size_t mirror);
  // Returns how long the mirror is left alone: two seconds at first for one that is away, half a minute for one that
  // serves wrong bytes.
  Duration on_failure(TimePoint now, std::size_t mirror, Failure failure);

 private:
  struct Mirror {
    int failures = 0;  // in a row
    TimePoint not_before{};
  };
  std::vector<Mirror> mirrors_;
  std::size_t first_;  // where the search begins
};

}  // namespace starling::daemon
