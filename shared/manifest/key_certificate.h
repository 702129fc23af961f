// The root key's word on which key signs runs from now on. The root lies on no server; whoever steals the key that does
// can be shut out by certifying another one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "shared/base/result.h"
#include "shared/crypto/keys.h"

namespace starling::manifest {

struct KeyCertificate {
  std::int64_t number = 1;  // from 1; of two keys the one with the higher number counts
  crypto::PublicKey key;
};

// One JSON object, {"key_id","key","signature"}.
std::string certify_key(const KeyCertificate& certificate, const crypto::PrivateKey& root);
// permission_denied when it is another root's, corrupt when it is damaged.
Result<KeyCertificate> verify_key(std::string_view certificate, const crypto::PublicKey& root);

}  // namespace starling::manifest
