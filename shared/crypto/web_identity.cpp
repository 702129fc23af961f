#include "shared/crypto/certificates.h"
#include "shared/crypto/tls.h"
#include "shared/crypto/x509_builder.h"

namespace starling::crypto {

Result<WebIdentity> make_web_identity(const std::vector<std::string>& hosts, WallTime now) {
  if (hosts.empty()) return Error{ErrorCode::invalid_argument, "make web certificate: no host name is given"};
  const KeyPtr key(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
  VERIFY(key != nullptr);
  CertificateFields fields{.subject = "Starling coordinator", .key = key.get()};
  set_period(fields, now, kServerCertificateBackdate, kServerCertificateLifetime);
  const X509Ptr certificate = make_blank(fields);
  VERIFY(certificate != nullptr);
  add_extension(certificate.get(), certificate.get(), NID_basic_constraints, "critical,CA:FALSE");
  add_extension(certificate.get(), certificate.get(), NID_ext_key_usage, "serverAuth");
  STARLING_TRY(add_host_names(certificate.get(), hosts));
  VERIFY(X509_sign(certificate.get(), key.get(), EVP_sha256()) > 0);
  const BioPtr bio(BIO_new(BIO_s_mem()));
  VERIFY(bio != nullptr);
  VERIFY(PEM_write_bio_PKCS8PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1);
  return WebIdentity{certificate_to_pem(certificate.get()), bio_text(bio.get())};
}

}  // namespace starling::crypto
