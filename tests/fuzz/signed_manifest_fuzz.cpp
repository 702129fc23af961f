#include "shared/manifest/signed_manifest.h"

#include "shared/manifest/key_certificate.h"
#include "tests/fuzz/fuzz_target.h"

using namespace starling;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const crypto::PublicKey key = crypto::PrivateKey::generate().public_key();
  // This key has signed nothing: neither another key's certificate nor a manifest.
  VERIFY(!manifest::verify_key(testing::text_of(data, size), key).ok());
  const auto envelope = manifest::decode_envelope(testing::text_of(data, size));
  if (!envelope.ok()) return 0;
  const std::string text = manifest::encode_envelope(*envelope);
  const auto again = manifest::decode_envelope(text);
  VERIFY(again.ok() && manifest::encode_envelope(*again) == text);
  VERIFY(!manifest::verify_manifest(*envelope, key).ok());
  return 0;
}
