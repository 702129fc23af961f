// A release feed with its builders' signature: one file for any static host. The builders' key is separate from a
// project's keys: the public half comes with the program that looks for updates, and the private half belongs on no
// server.
#pragma once

#include <string>
#include <string_view>

#include "shared/base/result.h"
#include "shared/crypto/keys.h"
#include "shared/protocol/release_feed.h"

namespace starling::manifest {

constexpr std::size_t kSignedFeedBytesMax = 2 * wire::kFeedBytesMax + 4096;  // the signatures of many keys included

// The file's content: {"feed","key_id","signature"}. invalid_argument when the feed does not pass wire::check_feed.
Result<std::string> sign_feed(const wire::ReleaseFeed& feed, const crypto::PrivateKey& key);
// Returns the feed if `key` signed it and every value is in range. permission_denied when another key signed it.
Result<wire::ReleaseFeed> verify_feed(std::string_view file, const crypto::PublicKey& key);

}  // namespace starling::manifest
