#include "shared/crypto/lean_library.h"

#include <doctest/doctest.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <array>
#include <memory>
#include <vector>

namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

// The key as encoded in a certificate, decoded in `library`.
Key decoded(const Key& key, OSSL_LIB_CTX* library) {
  unsigned char* bytes = nullptr;
  const int size = i2d_PUBKEY(key.get(), &bytes);
  REQUIRE(size > 0);
  const unsigned char* at = bytes;
  Key read(d2i_PUBKEY_ex(nullptr, &at, size, library, nullptr), EVP_PKEY_free);
  OPENSSL_free(bytes);
  return read;
}

}  // namespace

TEST_CASE("this OpenSSL names what members use as expected, and no other keys of certificates are read") {
  OSSL_LIB_CTX* const library = starling::crypto::lean_library();
  REQUIRE(library != nullptr);
  const Key members(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), EVP_PKEY_free);
  const Key other(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"), EVP_PKEY_free);
  const Key read = decoded(members, library);
  REQUIRE(read != nullptr);
  CHECK(EVP_PKEY_eq(read.get(), members.get()) == 1);
  CHECK(decoded(other, library) == nullptr);
  CHECK(decoded(other, nullptr) != nullptr);
}
