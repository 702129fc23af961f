#include "shared/manifest/signed_feed.h"

#include "shared/manifest/signed_text.h"

namespace starling::manifest {
namespace {

constexpr TextKind kKind{
    .name = "release feed", .context = "starling release feed v1\n", .field = "feed", .bytes_max = wire::kFeedBytesMax};

}  // namespace

Result<std::string> sign_feed(const wire::ReleaseFeed& feed, const crypto::PrivateKey& key) {
  STARLING_TRY(wire::check_feed(feed));
  return encode_text(kKind, sign_text(kKind, wire::encode_feed(feed), key));
}

Result<wire::ReleaseFeed> verify_feed(std::string_view file, const crypto::PublicKey& key) {
  STARLING_ASSIGN(const SignedText text, decode_text(kKind, file));
  STARLING_TRY(verify_text(kKind, text, key));
  return wire::decode_feed(text.text);
}

}  // namespace starling::manifest
