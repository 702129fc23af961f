// What a release feed means for this installation: plain decisions over values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "shared/wire/release_feed.h"

namespace starling::updates {

// What is known here of versions and feeds.
struct Known {
  std::string version;              // of this program
  std::string platform;             // as wire::this_platform
  std::int64_t serial_seen = 0;     // the highest of any genuine feed
  std::vector<std::string> failed;  // versions that did not come up here
};

struct Judgement {
  enum class Kind : std::uint8_t {
    current,      // there is nothing newer
    newer,        // `file` is the newer version for this machine
    no_file,      // there is a newer version, but not for this kind of machine
    failed_here,  // there is a newer version, which did not come up here
  };
  Kind kind = Kind::current;
  wire::ReleaseFile file;
};

// `feed` is genuine: its signature was checked. failed_precondition when it must not be believed all the same: it is
// older than one that was seen, or nobody has renewed it in time.
Result<Judgement> judge(const wire::ReleaseFeed& feed, const Known& known, WallTime now);

constexpr Duration kCheckEvery = std::chrono::hours(24);
constexpr Duration kRetryAfter = std::chrono::hours(1);
constexpr Duration kFirstCheckAfter = std::chrono::minutes(2);  // of a daemon's start: there are things to do first
// From now until the next check, by what the last one (0: never) came to. `dice` in [0, 1) spreads the volunteers, so
// that a host is not called by all at one time: a fifth of the time more or less.
Duration until_check(WallTime last_success, bool last_failed, WallTime now, double dice);

}  // namespace starling::updates
