// A cache for ends that meet repeatedly, such as a coordinator and its members: a certificate's signature (and the name
// in it, if the context demands one) is verified when it first comes, and remembered. Its dates and the other end's
// possession of the key are checked every time. For this folder's .cpp files only.
#pragma once

#include <openssl/ssl.h>

#include <cstddef>
#include <unordered_set>

#include "shared/base/ids.h"
#include "shared/base/mutex.h"

namespace starling::crypto {

class VerifiedCertificates {
 public:
  // Keeps at most 2 * recent_max fingerprints, about 70 bytes each.
  explicit VerifiedCertificates(std::size_t recent_max = std::size_t{1} << 16) : recent_max_(recent_max) {}

  // Gives the context's handshakes a cache of their own, which lives as long as the context. To be called once, when
  // its store of authorities is complete.
  static void use_in(SSL_CTX* context);

  // The result of X509_verify_cert for the chain that `check` was set up for. From any thread.
  bool verify(X509_STORE_CTX* check) EXCLUDES(mutex_);
  [[nodiscard]] std::size_t kept() const EXCLUDES(mutex_);

 private:
  bool knows(const Digest& fingerprint) EXCLUDES(mutex_);
  void keep(const Digest& fingerprint) REQUIRES(mutex_);

  const std::size_t recent_max_;
  mutable Mutex mutex_;
  // Fingerprints. A certificate that is seen moves to the recent ones; when these reach the bound, they become the
  // earlier ones, and the previous earlier ones are forgotten.
  std::unordered_set<Digest> recent_ GUARDED_BY(mutex_);
  std::unordered_set<Digest> earlier_ GUARDED_BY(mutex_);
};

}  // namespace starling::crypto
