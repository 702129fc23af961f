// Settings by which the owner's other computers control this daemon: DIR/remote.json, 0600; it exists only after that
// was enabled. Only the token's hash is kept. The certificate is the daemon's own for this purpose; callers pin the
// fingerprint of the authority that signed it, whose private key was discarded.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "shared/base/ids.h"
#include "shared/base/result.h"

namespace starling::storage {

struct RemoteAccess {
  std::string address;  // IP literal to listen on
  int port = 0;
  Digest token_hash;  // crypto::hash_token
  std::string authority_pem;
  std::string certificate_pem;
  std::string key_pem;
};

// Empty if it was not enabled. An Error, naming the file, when it cannot be read.
Result<std::optional<RemoteAccess>> load_remote_access(const std::filesystem::path& data_dir);
Status save_remote_access(const std::filesystem::path& data_dir, const RemoteAccess& access);
// Succeeds if there is none.
Status remove_remote_access(const std::filesystem::path& data_dir);

}  // namespace starling::storage
