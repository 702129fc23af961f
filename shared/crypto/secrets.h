// Randomness, and secrets that are stored so that a stolen database opens no door.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "shared/base/ids.h"
#include "shared/base/result.h"

namespace starling::crypto {

// Fills `out` from the system's generator. Cannot fail: without entropy the program stops.
void fill_random(std::span<std::uint8_t> out);
std::uint64_t random_u64();

// Takes as long for equal as for different bytes. Lengths are not secret.
bool constant_time_equal(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b);

// A device token or invite: 256 random bits in 64 hex digits. Whoever made it shows it once and keeps
// hash_token of it; so much randomness needs no slow hash.
std::string make_token();
Digest hash_token(std::string_view token);
bool token_matches(std::string_view token, const Digest& stored);

// HMAC-SHA-256 of the text under a secret: proves later that this program wrote it.
Digest keyed_digest(std::string_view secret, std::string_view text);

// Cost of a password hash: 2^log2_n blocks of 128·r bytes, so 128 MiB and about half a second as given.
struct ScryptOptions {
  int log2_n = 17;
  int r = 8;
  int p = 1;
};
constexpr std::size_t kPasswordBytesMax = 256;

// "$scrypt$ln=17,r=8,p=1$salt$hash" (salt and hash in hex): the parameters travel with the hash, so they
// may grow later. invalid_argument for an empty or overlong password.
Result<std::string> hash_password(std::string_view password, const ScryptOptions& options = {});
// One such of no password: to compare with takes as long, and is in vain. Costs nothing to make.
std::string hash_of_no_password(const ScryptOptions& options = {});
// Whether `password` is the one that was hashed; corrupt when `stored` is no such string or asks for more
// than 2^20 blocks.
Result<bool> verify_password(std::string_view password, std::string_view stored);

}  // namespace starling::crypto
