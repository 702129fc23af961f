#include "shared/manifest/signed_feed.h"
#include "shared/protocol/release_feed.h"
#include "tests/fuzz/fuzz_target.h"

using namespace starling;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const crypto::PublicKey key = crypto::PrivateKey::generate().public_key();
  const auto text = testing::text_of(data, size);
  VERIFY(!manifest::verify_feed(text, key).ok());  // this key has signed nothing
  const auto feed = wire::decode_feed(text);
  if (!feed.ok()) return 0;
  const std::string written = wire::encode_feed(*feed);
  const auto again = wire::decode_feed(written);
  VERIFY(again.ok() && wire::encode_feed(*again) == written);
  VERIFY(feed->files.size() <= wire::kReleaseFilesMax);
  for (const wire::ReleaseFile& file : feed->files) VERIFY(file.name.find('/') == std::string::npos);
  return 0;
}
