// Origin of this installation's updates and the keys of their signatures: a small file that its packager puts beside
// the programs, {"feed":"https://host/folder/feed.json","root":"…","ca":"-----BEGIN CERTIFICATE…"}. "root" is the text
// of a root's file (manifest/signed_root.h); older files have "key", one public key, instead. "ca", if present, is the
// only authority that may have certified the host: for one without a public certificate.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "client/updates/root_rules.h"
#include "shared/base/result.h"
#include "shared/net/http_client.h"

namespace starling::updates {

struct UpdateSource {
  net::Endpoint server;
  std::string feed_path;  // path on the server
  std::string folder;     // folder of the feed, with a slash at its end; the release's files lie there too
  Trust trust;            // pinned
  std::string ca_pem;     // empty: the authorities that this system trusts
};

// not_found when there is no such file; then nothing looks for updates.
Result<UpdateSource> load_update_source(const std::filesystem::path& file);
Result<UpdateSource> read_update_source(std::string_view json);

}  // namespace starling::updates
