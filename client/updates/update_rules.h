// Decisions about a release feed for this installation, as pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "shared/protocol/release_feed.h"

namespace starling::updates {

// Local knowledge of versions and feeds.
struct Known {
  std::string version;              // version of this program
  std::string platform;             // the value of wire::this_platform
  std::int64_t serial_seen = 0;     // highest serial of any genuine feed
  std::vector<std::string> failed;  // versions that did not work here
};

// The feed's meaning for this installation.
struct Judgement {
  enum class Kind : std::uint8_t {
    current,      // no newer version exists
    newer,        // `file` is the newer version for this machine
    no_file,      // a newer version exists, but not for this kind of machine
    failed_here,  // a newer version exists, but did not work here
  };
  Kind kind = Kind::current;
  wire::ReleaseFile file;
};

// Judges a genuine feed, whose signature was checked. failed_precondition when it must still not be used: it is older
// than one that was seen, or its validity has ended.
Result<Judgement> judge(const wire::ReleaseFeed& feed, const Known& known, WallTime now);

constexpr Duration kCheckEvery = std::chrono::hours(24);
constexpr Duration kRetryAfter = std::chrono::hours(1);
constexpr Duration kFirstCheckAfter = std::chrono::minutes(2);  // delay after a daemon's start: other work comes first
// Time from now until the next check, by the result of the last one (0: never). `dice` in [0, 1) varies it by a fifth,
// so that volunteers do not all call a host at one time.
Duration until_check(WallTime last_success, bool last_failed, WallTime now, double dice);

}  // namespace starling::updates
