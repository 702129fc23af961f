#include "shared/crypto/openssl_handles.h"

#include "shared/crypto/certificates.h"
#include "shared/crypto/digest.h"
#include "shared/crypto/keys.h"

namespace starling::crypto {
namespace {

PeerId digest_and_free(unsigned char* der, int size) {
  VERIFY(size > 0);
  PeerId id;
  id.bytes = sha256(std::span(der, static_cast<std::size_t>(size))).bytes;
  OPENSSL_free(der);
  return id;
}

}  // namespace

std::string take_openssl_error() {
  const unsigned long first = ERR_get_error();
  ERR_clear_error();
  if (first == 0) return "no reason given";
  const char* reason = ERR_reason_error_string(first);
  return reason != nullptr ? reason : "error " + std::to_string(first);
}

Error openssl_error(ErrorCode code, std::string_view what) {
  return {code, std::string(what) + ": " + take_openssl_error()};
}

BioPtr bio_of(std::string_view bytes) {
  BioPtr bio(BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())));
  VERIFY(bio != nullptr);
  return bio;
}

std::string bio_text(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

Result<X509Ptr> parse_certificate(std::string_view pem) {
  if (pem.size() > kPemBytesMax) return Error{ErrorCode::corrupt, "read certificate: text is too long"};
  const BioPtr bio = bio_of(pem);
  X509Ptr certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  if (certificate == nullptr) return openssl_error(ErrorCode::corrupt, "read certificate");
  return certificate;
}

std::string certificate_to_pem(X509* certificate) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  VERIFY(bio != nullptr && PEM_write_bio_X509(bio.get(), certificate) == 1);
  return bio_text(bio.get());
}

Digest certificate_fingerprint(const X509* certificate) {
  Digest digest;
  unsigned int size = 0;
  VERIFY(X509_digest(certificate, EVP_sha256(), digest.bytes.data(), &size) == 1 && size == Digest::kSize);
  return digest;
}

PeerId spki_digest(EVP_PKEY* key) {
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(key, &der);
  return digest_and_free(der, size);
}

PeerId spki_digest(const X509* certificate) {
  unsigned char* der = nullptr;
  const int size = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &der);
  return digest_and_free(der, size);
}

bool is_ed25519(const EVP_PKEY* key) { return key != nullptr && EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519; }

bool names_coordinator(X509* certificate) {
  constexpr unsigned kFlags = X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_WILDCARDS;
  return X509_check_host(certificate, kCoordinatorName.data(), kCoordinatorName.size(), kFlags, nullptr) == 1;
}

}  // namespace starling::crypto
