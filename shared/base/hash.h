// A fast 128-bit hash for agreement among peers that already trust each other's bytes (XXH3-128). It is not
// cryptographic: anything that a stranger could forge is compared by SHA-256 (shared/crypto).
#pragma once

#include <cstdint>
#include <span>

#include "shared/base/ids.h"

namespace starling {

struct Hash128Tag;
using Hash128 = FixedId<Hash128Tag, 16>;

Hash128 hash128(std::span<const std::uint8_t> bytes);

}  // namespace starling
