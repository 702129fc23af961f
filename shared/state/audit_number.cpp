#include "shared/state/audit_number.h"

#include <algorithm>
#include <string>

#include "shared/crypto/digest.h"

namespace starling::state {
namespace {

template <typename... Ids>
Digest digest_of(std::string text, const Ids&... ids) {
  (text.append(reinterpret_cast<const char*>(ids.bytes.data()), ids.bytes.size()), ...);
  return crypto::sha256(text);
}

}  // namespace

Digest audit_number(const Digest& secret, const GroupId& group) {
  return digest_of("starling audit number v1\n", secret, group);
}

Digest audit_commitment(const Digest& number) { return digest_of("starling audit commitment v1\n", number); }

Hash128 audit_seed(const Digest& number, const Hash128& result_digest) {
  const Digest whole = digest_of("starling audit seed v1\n", number, result_digest);
  Hash128 seed;
  std::copy_n(whole.bytes.begin(), seed.bytes.size(), seed.bytes.begin());
  return seed;
}

}  // namespace starling::state
