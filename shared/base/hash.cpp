#include "shared/base/hash.h"

#include <xxhash.h>
#ifdef __x86_64__
#include <xxh_x86dispatch.h>  // the widest vectors that the processor has, in place of SSE2; the hash is the same
#endif

namespace starling {

Hash128 hash128(std::span<const std::uint8_t> bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  Hash128 hash;
  static_assert(sizeof canonical.digest == Hash128::kSize);
  std::memcpy(hash.bytes.data(), canonical.digest, Hash128::kSize);
  return hash;
}

}  // namespace starling
