// When the keeper of updates has what to do. Pure: time and what it knows are arguments.
#pragma once

#include <cstdint>

#include "shared/base/clock.h"

namespace starling::daemon {

// What the volunteer's rules say of updates just now.
struct UpdateRules {
  bool check = true;
  bool install = true;
  bool network = false;  // whether anybody may be called
  bool large = false;    // whether much may be downloaded
  std::int64_t free_bytes_min = 0;

  friend bool operator==(const UpdateRules&, const UpdateRules&) = default;
};

struct UpdateAgenda {
  bool has_source = false;        // something says where newer versions are
  bool can_install = false;       // this installation may change itself
  bool found = false;             // a newer version, which can be installed
  bool waiting = false;           // it lies there complete
  bool asked_to_install = false;  // whatever the rules say
  TimePoint next_check = kNever;
  TimePoint next_try{};        // of the installation
  TimePoint well_at = kNever;  // this version has shown that it works; never: it has done so

  struct Due {
    bool end_trial = false;
    bool check = false;
    bool install = false;
    [[nodiscard]] bool any() const { return end_trial || check || install; }
  };
  [[nodiscard]] Due due(TimePoint now, const UpdateRules& rules) const;
  // When something will be due that is not yet, unless something else happens first. Never a moment that is over: the
  // keeper would be woken at once, for ever.
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
