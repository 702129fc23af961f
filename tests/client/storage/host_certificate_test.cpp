#include "client/storage/host_certificate.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "shared/crypto/certificates.h"
#include "shared/crypto/keys.h"

using namespace starling;
using namespace starling::storage;

TEST_CASE("a certificate is due eight hours before its end, and a renewal of one copy is one of all") {
  const WallTime begin{1'800'000'000'000};
  const auto after = [&](Duration passed) { return WallTime{begin.unix_ms + to_ms(passed)}; };
  const auto ca = crypto::CertificateAuthority::create("test", begin).value();
  const auto issued = [&](WallTime now) {
    crypto::IssueOptions options;
    options.now = now;
    return ca.issue(crypto::make_csr(crypto::PrivateKey::generate()), options).value();
  };
  const HostCertificate certificate(issued(begin));
  const HostCertificate copy = certificate;
  CHECK_FALSE(copy.is_due(after(std::chrono::hours(15))));
  CHECK(copy.is_due(after(std::chrono::hours(17))));
  CHECK_FALSE(copy.has_run_out(after(std::chrono::hours(23))));
  CHECK(copy.has_run_out(after(std::chrono::hours(25))));

  const std::string newer = issued(after(std::chrono::hours(17)));
  certificate.renew(newer);
  CHECK(copy.pem() == newer);
  CHECK_FALSE(copy.is_due(after(std::chrono::hours(25))));
}

TEST_CASE("a text that is no certificate is never due") {
  const WallTime late{INT64_MAX / 2};
  CHECK_FALSE(HostCertificate().is_due(late));
  CHECK_FALSE(HostCertificate("no certificate").has_run_out(late));
}
