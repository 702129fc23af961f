// Decides when the keeper of updates has something to do. Pure: time and its knowledge are arguments.
#pragma once

#include <cstdint>

#include "shared/base/clock.h"

namespace starling::daemon {

// The volunteer's present rules about updates.
struct UpdateRules {
  bool check = true;
  bool install = true;
  bool network = false;  // calls are allowed
  bool large = false;    // large downloads are allowed
  std::int64_t free_bytes_min = 0;

  friend bool operator==(const UpdateRules&, const UpdateRules&) = default;
};

struct UpdateAgenda {
  bool has_source = false;        // something names the source of newer versions
  bool can_install = false;       // this installation may change itself
  bool found = false;             // a newer version is known, and can be installed
  bool waiting = false;           // a newer version lies there complete
  bool asked_to_install = false;  // installs it whatever the rules say
  TimePoint next_check = kNever;
  TimePoint next_try{};        // when the next installation may be tried
  TimePoint well_at = kNever;  // when this version has shown that it works; kNever: it has done so

  struct Due {
    bool end_trial = false;
    bool check = false;
    bool install = false;
    [[nodiscard]] bool any() const { return end_trial || check || install; }
  };
  [[nodiscard]] Due due(TimePoint now, const UpdateRules& rules) const;
  // Returns the next time at which something will be due, unless something else happens first. Never a moment in the
  // past: the keeper would be woken at once, for ever.
  [[nodiscard]] TimePoint alarm(TimePoint now, const UpdateRules& rules) const;

 private:
  struct Moments {
    TimePoint end_trial;
    TimePoint check;
    TimePoint install;
  };
  [[nodiscard]] Moments moments(const UpdateRules& rules) const;
};

}  // namespace starling::daemon
