// The key that scrypt makes of a password, for this folder's .cpp files only.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "shared/base/result.h"
#include "shared/crypto/secrets.h"

namespace starling::crypto {

// True for a cost that is neither nothing nor more than anybody would wait for.
bool in_range(const ScryptOptions& options);
// Fills `out`. The options are in range.
Status scrypt(std::string_view password, std::span<const std::uint8_t> salt, const ScryptOptions& options,
              std::span<std::uint8_t> out);

}  // namespace starling::crypto
