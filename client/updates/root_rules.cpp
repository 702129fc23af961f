#include "client/updates/root_rules.h"

#include <fmt/core.h>

#include "shared/base/calendar.h"
#include "shared/base/verify.h"
#include "shared/manifest/signed_feed.h"
#include "shared/manifest/signed_root.h"

namespace starling::updates {

std::optional<wire::ReleaseRoot> newer_root(std::optional<wire::ReleaseRoot> pinned,
                                            std::optional<wire::ReleaseRoot> seen) {
  if (!pinned.has_value()) return seen;
  return seen.has_value() && seen->version > pinned->version ? seen : pinned;
}

std::int64_t next_root_version(const Trust& trust) { return trust.root.has_value() ? trust.root->version + 1 : 1; }

Result<wire::ReleaseRoot> next_root(const Trust& trust, std::string_view file) {
  VERIFY(trust.root.has_value() || trust.single_key.has_value());
  return trust.root.has_value() ? manifest::verify_next_root(file, *trust.root)
                                : manifest::verify_first_root(file, *trust.single_key);
}

Result<wire::ReleaseFeed> believed_feed(const Trust& trust, std::string_view file, WallTime now) {
  VERIFY(trust.root.has_value() || trust.single_key.has_value());
  if (!trust.root.has_value()) return manifest::verify_feed(file, *trust.single_key);
  if (now > trust.root->valid_until) {
    return Error{ErrorCode::failed_precondition,
                 fmt::format("the keys of the release feed ran out on {}: its makers did not renew them, or somebody "
                             "holds the newer ones back",
                             utc(trust.root->valid_until))};
  }
  return manifest::verify_feed(file, *trust.root);
}

}  // namespace starling::updates
