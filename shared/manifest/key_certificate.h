// The root key's statement of which key signs runs from now on. The root key lies on no server; a stolen signing key is
// shut out when the root certifies another one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "shared/base/result.h"
#include "shared/crypto/keys.h"

namespace starling::manifest {

struct KeyCertificate {
  std::int64_t number = 1;  // from 1; the key with the highest number is valid
  crypto::PublicKey key;
};

// One JSON object, {"key_id","key","signature"}.
std::string certify_key(const KeyCertificate& certificate, const crypto::PrivateKey& root);
// permission_denied when another root signed it, corrupt when it is damaged.
Result<KeyCertificate> verify_key(std::string_view certificate, const crypto::PublicKey& root);

}  // namespace starling::manifest
