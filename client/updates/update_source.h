// Where this installation looks for updates, and whose signature it believes: a small file that its packager lays
// beside the programs, {"feed":"https://host/folder/feed.json","key":"-----BEGIN PUBLIC KEY…","ca":"-----BEGIN
// CERTIFICATE…"}. "ca", where it is there, is the only authority that may have certified the host: for one without a
// public certificate.
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
  std::string feed_path;  // on the server
  std::string folder;     // the feed's, with the slash at its end: the release's files lie there too
  crypto::PublicKey key;
  std::string ca_pem;  // empty: the authorities this system trusts
};

// not_found when there is no such file: then nobody looks for updates.
Result<UpdateSource> load_update_source(const std::filesystem::path& file);
Result<UpdateSource> read_update_source(std::string_view json);

}  // namespace starling::updates
