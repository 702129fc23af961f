#include "shared/crypto/verified_certificates.h"

#include <doctest/doctest.h>
#include <openssl/x509.h>

#include "shared/crypto/certificates.h"
#include "shared/crypto/openssl_handles.h"

namespace starling::crypto {
namespace {

constexpr WallTime kNow{1'760'000'000'000};

struct Fixture {
  // A certificate of this project, for a key of its own.
  [[nodiscard]] X509Ptr certificate() const {
    return *parse_certificate(*authority.issue(make_csr(PrivateKey::generate()), {.now = kNow}));
  }
  // Whether the certificate is accepted when only `trusted` is trusted.
  bool verify(VerifiedCertificates& cache, const X509Ptr& certificate, const CertificateAuthority* trusted,
              WallTime now = kNow) const {
    const StorePtr store(X509_STORE_new());
    if (trusted != nullptr) {
      X509_STORE_add_cert(store.get(), parse_certificate(trusted->certificate_pem())->get());
    }
    const StoreContextPtr check(X509_STORE_CTX_new());
    REQUIRE(X509_STORE_CTX_init(check.get(), store.get(), certificate.get(), nullptr) == 1);
    X509_STORE_CTX_set_time(check.get(), 0, now.unix_ms / 1000);
    const bool good = cache.verify(check.get());
    CHECK(good == (X509_STORE_CTX_get_error(check.get()) == X509_V_OK));
    return good;
  }

  CertificateAuthority authority = *CertificateAuthority::create("Test", kNow);
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a good certificate is verified once; its dates are checked every time") {
  VerifiedCertificates cache;
  const X509Ptr ann = certificate();
  CHECK_FALSE_MESSAGE(verify(cache, ann, nullptr), "nobody vouches for it");
  CHECK(cache.kept() == 0);
  REQUIRE(verify(cache, ann, &authority));
  CHECK_MESSAGE(verify(cache, ann, nullptr), "it is known now");
  CHECK(cache.kept() == 1);
  constexpr std::int64_t kHourMs = 3'600'000;
  CHECK_FALSE(verify(cache, ann, &authority, {kNow.unix_ms + 25 * kHourMs}));
  CHECK_FALSE(verify(cache, ann, &authority, {kNow.unix_ms - kHourMs}));
  CHECK_FALSE(verify(cache, certificate(), nullptr));
}

TEST_CASE_FIXTURE(Fixture, "as many are kept as there is room for, those that came last") {
  VerifiedCertificates cache(2);
  const X509Ptr regular = certificate();
  REQUIRE(verify(cache, regular, &authority));
  for (int i = 0; i < 20; ++i) {
    CHECK(verify(cache, certificate(), &authority));
    CHECK_MESSAGE(verify(cache, regular, nullptr), "who comes often is kept");
    CHECK(cache.kept() <= 4);
  }
  for (int i = 0; i < 4; ++i) CHECK(verify(cache, certificate(), &authority));
  CHECK_FALSE_MESSAGE(verify(cache, regular, nullptr), "who stayed away is not");
}

}  // namespace starling::crypto
