#include "shared/crypto/verified_certificates.h"

#include <memory>
#include <utility>

#include "shared/base/verify.h"
#include "shared/crypto/openssl_handles.h"

namespace starling::crypto {
namespace {

// Index under which a context keeps its cache, which is freed with it.
int cache_index() {
  static const int index = SSL_CTX_get_ex_new_index(
      0, nullptr, nullptr, nullptr,
      [](void* /*parent*/, void* cache, auto... /*more*/) { delete static_cast<VerifiedCertificates*>(cache); });
  return index;
}

int verify_with(X509_STORE_CTX* check, void* cache) {
  return static_cast<VerifiedCertificates*>(cache)->verify(check) ? 1 : 0;
}

bool is_in_date(X509_STORE_CTX* check, const X509* certificate) {
  return X509_cmp_timeframe(X509_STORE_CTX_get0_param(check), X509_get0_notBefore(certificate),
                            X509_get0_notAfter(certificate)) == 0;
}

}  // namespace

void VerifiedCertificates::use_in(SSL_CTX* context) {
  auto cache = std::make_unique<VerifiedCertificates>();
  SSL_CTX_set_cert_verify_callback(context, verify_with, cache.get());
  VERIFY(SSL_CTX_set_ex_data(context, cache_index(), cache.get()) == 1);
  (void)cache.release();  // the context owns it now
}

bool VerifiedCertificates::verify(X509_STORE_CTX* check) {
  const X509* certificate = X509_STORE_CTX_get0_cert(check);
  const Digest fingerprint = certificate_fingerprint(certificate);
  if (is_in_date(check, certificate) && knows(fingerprint)) {
    X509_STORE_CTX_set_error(check, X509_V_OK);
    return true;
  }
  if (X509_verify_cert(check) != 1) return false;
  const MutexLock lock(mutex_);
  keep(fingerprint);
  return true;
}

std::size_t VerifiedCertificates::kept() const {
  const MutexLock lock(mutex_);
  return recent_.size() + earlier_.size();
}

bool VerifiedCertificates::knows(const Digest& fingerprint) {
  const MutexLock lock(mutex_);
  if (recent_.contains(fingerprint)) return true;
  if (earlier_.erase(fingerprint) == 0) return false;
  keep(fingerprint);
  return true;
}

void VerifiedCertificates::keep(const Digest& fingerprint) {
  if (recent_.size() >= recent_max_) earlier_ = std::exchange(recent_, {});
  recent_.insert(fingerprint);
}

}  // namespace starling::crypto
