#include "client/release/key_files.h"

#include "shared/base/files.h"
#include "shared/manifest/signed_root.h"

namespace starling::release {
namespace {

template <typename T>
Result<T> about(const std::filesystem::path& path, Result<T> result) {
  if (!result.ok()) return result.error().prefixed("'" + path.string() + "'");
  return result;
}

}  // namespace

Result<crypto::PrivateKey> load_private_key(const std::filesystem::path& path) {
  STARLING_ASSIGN(const std::string pem, read_file(path, crypto::kPemBytesMax));
  return about(path, crypto::PrivateKey::from_pem(pem));
}

Result<crypto::PublicKey> load_public_key(const std::filesystem::path& path) {
  STARLING_ASSIGN(const std::string pem, read_file(path, crypto::kPemBytesMax));
  return about(path, crypto::PublicKey::from_pem(pem));
}

Result<wire::ReleaseRoot> load_root(const std::filesystem::path& path) {
  STARLING_ASSIGN(const std::string file, read_file(path, manifest::kSignedRootBytesMax));
  return about(path, manifest::verify_pinned_root(file));
}

}  // namespace starling::release
