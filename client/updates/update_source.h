// Origin of this installation's updates and the key of their signature: a small file that its packager puts beside the
// programs, {"feed":"https://host/folder/feed.json","key":"-----BEGIN PUBLIC KEY…","ca":"-----BEGIN CERTIFICATE…"}.
// "ca", if present, is the only authority that may have certified the host: for one without a public certificate.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "shared/base/result.h"
#include "shared/crypto/keys.h"
#include "shared/net/http_client.h"

namespace starling::updates {

struct UpdateSource {
  net::Endpoint server;
  std::string feed_path;  // path on the server
  std::string folder;     // folder of the feed, with a slash at its end; the release's files lie there too
  crypto::PublicKey key;
  std::string ca_pem;  // empty: the authorities that this system trusts
};

// not_found when there is no such file; then nothing looks for updates.
Result<UpdateSource> load_update_source(const std::filesystem::path& file);
Result<UpdateSource> read_update_source(std::string_view json);

}  // namespace starling::updates
