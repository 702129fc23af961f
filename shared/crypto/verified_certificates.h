// For ends that meet each other again and again, such as a coordinator and its members: a certificate's signature (and
// the name in it, where the context demands one) is verified when it comes for the first time, and remembered. Its
// dates are checked every time, and so is that the other end has the key. For this folder's .cpp files only.
#pragma once

#include <openssl/ssl.h>

#include <cstddef>
#include <unordered_set>

#include "shared/base/ids.h"
#include "shared/base/mutex.h"

namespace starling::crypto {

class VerifiedCertificates {
 public:
  // At most twice so many are kept, at some 70 bytes each.
  explicit VerifiedCertificates(std::size_t recent_max = std::size_t{1} << 16) : recent_max_(recent_max) {}

  // From now on the context's handshakes use one of their own, which lives as long as the context. To be called once,
  // when its store of authorities is complete.
  static void use_in(SSL_CTX* context);

  // What X509_verify_cert would say of the chain that `check` was set up for. From any thread.
  bool verify(X509_STORE_CTX* check) EXCLUDES(mutex_);
  [[nodiscard]] std::size_t kept() const EXCLUDES(mutex_);

 private:
  bool knows(const Digest& fingerprint) EXCLUDES(mutex_);
  void keep(const Digest& fingerprint) REQUIRES(mutex_);

  const std::size_t recent_max_;
  mutable Mutex mutex_;
  // Fingerprints. Whoever comes is moved to the recent ones; when these are many, the earlier ones are forgotten.
  std::unordered_set<Digest> recent_ GUARDED_BY(mutex_);
  std::unordered_set<Digest> earlier_ GUARDED_BY(mutex_);
};

}  // namespace starling::crypto
