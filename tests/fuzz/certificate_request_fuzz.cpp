#include "shared/crypto/certificates.h"

#include "tests/fuzz/fuzz_target.h"

using namespace starling;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const crypto::CertificateAuthority authority =
      *crypto::CertificateAuthority::create("Fuzz", {1'760'000'000'000});
  const std::string_view pem = testing::text_of(data, size);
  (void)crypto::read_certificate(pem);
  if (const auto key = crypto::PublicKey::from_pem(pem)) VERIFY(crypto::PublicKey::from_pem(key->to_pem()).ok());
  const auto peer = crypto::read_csr(pem);
  const auto certificate = authority.issue(pem, {.now = {1'760'000'000'000}});
  VERIFY(peer.ok() == certificate.ok());
  if (certificate.ok()) VERIFY(crypto::read_certificate(*certificate)->peer_id == *peer);
  return 0;
}
