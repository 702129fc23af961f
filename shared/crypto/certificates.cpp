#include "shared/crypto/certificates.h"

#include <ctime>

#include "shared/crypto/openssl_handles.h"
#include "shared/crypto/x509_builder.h"

namespace starling::crypto {
namespace {

constexpr std::chrono::hours kAuthorityLifetime{24 * 365 * 20};
constexpr std::size_t kProjectNameBytesMax = 256;  // OpenSSL holds a common name to X.520's 64 characters

WallTime wall_time_of(const ASN1_TIME* time) {
  std::tm fields{};
  if (ASN1_TIME_to_tm(time, &fields) != 1) return {};
  return {static_cast<std::int64_t>(timegm(&fields)) * 1000};
}

void sign_certificate(X509* certificate, EVP_PKEY* key) {
  VERIFY(X509_sign(certificate, key, nullptr) > 0);  // Ed25519 takes no digest
}

void add_leaf_extensions(X509* certificate, X509* issuer, const char* usages) {
  add_extension(certificate, issuer, NID_basic_constraints, "critical,CA:FALSE");
  add_extension(certificate, issuer, NID_key_usage, "critical,digitalSignature");
  add_extension(certificate, issuer, NID_ext_key_usage, usages);
  add_extension(certificate, issuer, NID_subject_key_identifier, "hash");
  add_extension(certificate, issuer, NID_authority_key_identifier, "keyid");
}

Result<CsrPtr> parse_csr(std::string_view csr_pem) {
  if (csr_pem.size() > kPemBytesMax) return Error{ErrorCode::corrupt, "read certificate request: text is too long"};
  const BioPtr bio = bio_of(csr_pem);
  CsrPtr csr(PEM_read_bio_X509_REQ(bio.get(), nullptr, nullptr, nullptr));
  if (csr == nullptr) return openssl_error(ErrorCode::corrupt, "read certificate request");
  EVP_PKEY* key = X509_REQ_get0_pubkey(csr.get());
  if (!is_ed25519(key)) {
    ERR_clear_error();
    return Error{ErrorCode::unsupported, "read certificate request: it is not for an Ed25519 key"};
  }
  if (X509_REQ_verify(csr.get(), key) != 1) {
    ERR_clear_error();
    return Error{ErrorCode::corrupt, "read certificate request: it is not signed by its own key"};
  }
  return csr;
}

std::string common_name_of(const X509* certificate) {
  const X509_NAME* subject = X509_get_subject_name(certificate);
  const int index = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (index < 0) return {};
  const ASN1_STRING* text = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, index));
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<std::size_t>(ASN1_STRING_length(text))};
}

}  // namespace

Result<CertificateInfo> read_certificate(std::string_view pem) {
  STARLING_ASSIGN(const X509Ptr certificate, parse_certificate(pem));
  EVP_PKEY* key = X509_get0_pubkey(certificate.get());
  if (!is_ed25519(key)) {
    ERR_clear_error();
    return Error{ErrorCode::unsupported, "read certificate: it is not for an Ed25519 key"};
  }
  CertificateInfo info;
  info.peer_id = spki_digest(certificate.get());
  info.common_name = common_name_of(certificate.get());
  info.not_before = wall_time_of(X509_get0_notBefore(certificate.get()));
  info.not_after = wall_time_of(X509_get0_notAfter(certificate.get()));
  info.fingerprint = certificate_fingerprint(certificate.get());
  info.coordinator = names_coordinator(certificate.get());
  info.authority = X509_check_ca(certificate.get()) == 1;
  ERR_clear_error();
  return info;
}

std::string make_csr(const PrivateKey& key) {
  const CsrPtr csr(X509_REQ_new());
  VERIFY(csr != nullptr && X509_REQ_set_version(csr.get(), X509_REQ_VERSION_1) == 1);
  VERIFY(X509_REQ_set_pubkey(csr.get(), key.native()) == 1);
  VERIFY(X509_REQ_sign(csr.get(), key.native(), nullptr) > 0);
  const BioPtr bio(BIO_new(BIO_s_mem()));
  VERIFY(bio != nullptr && PEM_write_bio_X509_REQ(bio.get(), csr.get()) == 1);
  return bio_text(bio.get());
}

Result<PeerId> read_csr(std::string_view csr_pem) {
  STARLING_ASSIGN(const CsrPtr csr, parse_csr(csr_pem));
  return spki_digest(X509_REQ_get0_pubkey(csr.get()));
}

CertificateAuthority::CertificateAuthority(PrivateKey key, std::shared_ptr<x509_st> certificate)
    : key_(std::move(key)),
      certificate_(std::move(certificate)),
      certificate_pem_(certificate_to_pem(certificate_.get())),
      fingerprint_(certificate_fingerprint(certificate_.get())) {}

Result<CertificateAuthority> CertificateAuthority::create(std::string_view project_name, WallTime now) {
  if (project_name.empty() || project_name.size() > kProjectNameBytesMax) {
    return Error{ErrorCode::invalid_argument, "create certificate authority: the project's name must have 1 to " +
                                                  std::to_string(kProjectNameBytesMax) + " bytes"};
  }
  const PrivateKey key = PrivateKey::generate();
  CertificateFields fields{.subject = std::string(project_name), .key = key.native()};
  set_period(fields, now, kServerCertificateBackdate, kAuthorityLifetime);
  X509Ptr certificate = make_blank(fields);
  if (certificate == nullptr) {
    return openssl_error(ErrorCode::invalid_argument, "create certificate authority: the project's name");
  }
  add_extension(certificate.get(), certificate.get(), NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  add_extension(certificate.get(), certificate.get(), NID_key_usage, "critical,keyCertSign,cRLSign");
  add_extension(certificate.get(), certificate.get(), NID_subject_key_identifier, "hash");
  sign_certificate(certificate.get(), key.native());
  return CertificateAuthority(key, std::move(certificate));
}

Result<CertificateAuthority> CertificateAuthority::load(std::string_view certificate_pem, std::string_view key_pem) {
  STARLING_ASSIGN(PrivateKey key, PrivateKey::from_pem(key_pem));
  STARLING_ASSIGN(X509Ptr certificate, parse_certificate(certificate_pem));
  if (X509_check_ca(certificate.get()) != 1 || X509_check_private_key(certificate.get(), key.native()) != 1) {
    ERR_clear_error();
    return Error{ErrorCode::failed_precondition,
                 "load certificate authority: the certificate and the key do not belong together"};
  }
  return CertificateAuthority(std::move(key), std::move(certificate));
}

Result<std::string> CertificateAuthority::issue(std::string_view csr_pem, const IssueOptions& options) const {
  STARLING_ASSIGN(const CsrPtr csr, parse_csr(csr_pem));
  EVP_PKEY* key = X509_REQ_get0_pubkey(csr.get());
  CertificateFields fields{
      .subject = spki_digest(key).hex(), .issuer = X509_get_subject_name(certificate_.get()), .key = key};
  set_period(fields, options.now, options.backdate, options.lifetime);
  const X509Ptr certificate = make_blank(fields);
  VERIFY(certificate != nullptr);
  // Volunteers dial each other both ways, so each certificate is valid for both ends.
  add_leaf_extensions(certificate.get(), certificate_.get(), "serverAuth,clientAuth");
  sign_certificate(certificate.get(), key_.native());
  return certificate_to_pem(certificate.get());
}

Result<std::string> CertificateAuthority::issue_server(const PublicKey& key, const ServerOptions& options) const {
  CertificateFields fields{.subject = std::string(kCoordinatorName),
                           .issuer = X509_get_subject_name(certificate_.get()),
                           .key = key.native()};
  set_period(fields, options.now, kServerCertificateBackdate, options.lifetime);
  const X509Ptr certificate = make_blank(fields);
  VERIFY(certificate != nullptr);
  add_leaf_extensions(certificate.get(), certificate_.get(), "serverAuth");
  std::vector<std::string> names = options.hosts;
  names.emplace_back(kCoordinatorName);
  STARLING_TRY(add_host_names(certificate.get(), names));
  sign_certificate(certificate.get(), key_.native());
  return certificate_to_pem(certificate.get());
}

}  // namespace starling::crypto
