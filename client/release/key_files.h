// Keys and roots in files, as starling-release reads them.
#pragma once

#include <filesystem>

#include "shared/base/result.h"
#include "shared/crypto/keys.h"
#include "shared/protocol/release_feed.h"

namespace starling::release {

Result<crypto::PrivateKey> load_private_key(const std::filesystem::path& path);
Result<crypto::PublicKey> load_public_key(const std::filesystem::path& path);
// A root that enough of its own keys signed; permission_denied, saying who is missing, for another.
Result<wire::ReleaseRoot> load_root(const std::filesystem::path& path);

}  // namespace starling::release
