#include "client/updates/update_rules.h"

#include <fmt/core.h>

#include <algorithm>

#include "shared/base/version.h"

namespace starling::updates {

Result<Judgement> judge(const wire::ReleaseFeed& feed, const Known& known, WallTime now) {
  if (feed.serial < known.serial_seen) {
    return Error{ErrorCode::failed_precondition,
                 fmt::format("the release feed is an old one: number {}, after number {} was seen here", feed.serial,
                             known.serial_seen)};
  }
  if (now > feed.valid_until) {
    return Error{ErrorCode::failed_precondition,
                 "the release feed has run out: its makers did not renew it, or somebody holds the newer one back"};
  }
  if (compare_versions(feed.version, known.version) <= 0) return Judgement{};
  if (std::find(known.failed.begin(), known.failed.end(), feed.version) != known.failed.end()) {
    return Judgement{Judgement::Kind::failed_here, {}};
  }
  for (const wire::ReleaseFile& file : feed.files) {
    if (file.platform == known.platform) return Judgement{Judgement::Kind::newer, file};
  }
  return Judgement{Judgement::Kind::no_file, {}};
}

Duration until_check(WallTime last_success, bool last_failed, WallTime now, double dice) {
  const double spread = 0.8 + 0.4 * dice;
  if (last_failed) return from_seconds(to_seconds(kRetryAfter) * spread);
  const Duration interval = from_seconds(to_seconds(kCheckEvery) * spread);
  const std::int64_t ago_ms = now.unix_ms - last_success.unix_ms;
  const bool clock_went_back = ago_ms < 0;
  if (last_success.unix_ms == 0 || clock_went_back || from_ms(std::min(ago_ms, to_ms(interval))) >= interval) {
    return from_seconds(to_seconds(kFirstCheckAfter) * (1 + 4 * dice));
  }
  return std::max<Duration>(interval - from_ms(ago_ms), kFirstCheckAfter);
}

}  // namespace starling::updates
