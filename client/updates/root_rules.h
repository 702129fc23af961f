// Decisions about the keys of the release feed, as pure functions. An installation pins a root, or, if it is older than
// roots, one key. From there it follows the roots one by one to the newest, and never back.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "shared/crypto/keys.h"
#include "shared/protocol/release_feed.h"

namespace starling::updates {

// Keys that this installation believes a feed by: the root, or, as long as there is none, the single key.
struct Trust {
  std::optional<wire::ReleaseRoot> root;
  std::optional<crypto::PublicKey> single_key;
};

// The newer one of the root that came with the program and the newest that was seen here.
std::optional<wire::ReleaseRoot> newer_root(std::optional<wire::ReleaseRoot> pinned,
                                            std::optional<wire::ReleaseRoot> seen);
// The version of the root that may come next.
std::int64_t next_root_version(const Trust& trust);
// The next root, if its file is signed as it must be. Errors of manifest::verify_next_root.
Result<wire::ReleaseRoot> next_root(const Trust& trust, std::string_view file);
// The feed, if its file is signed as it must be. failed_precondition when the root has run out; otherwise the errors of
// manifest::verify_feed.
Result<wire::ReleaseFeed> believed_feed(const Trust& trust, std::string_view file, WallTime now);

}  // namespace starling::updates
