// Text that only a passphrase opens: scrypt makes a key of the passphrase, and AES-256-GCM encrypts the text with it.
#pragma once

#include <string>
#include <string_view>

#include "shared/base/result.h"
#include "shared/crypto/secrets.h"

namespace starling::crypto {

// Encrypts with a salt and a nonce of its own, so that no two results are the same. The cost of the key travels with
// the result. invalid_argument for an empty or overlong passphrase (kPasswordBytesMax).
Result<std::string> seal(std::string_view passphrase, std::string_view text, const ScryptOptions& cost = {});
// Returns the text. permission_denied: it is another passphrase, or bytes were changed; corrupt: nothing that seal()
// made, or it asks for more than 2^20 blocks.
Result<std::string> unseal(std::string_view passphrase, std::string_view sealed);

}  // namespace starling::crypto
