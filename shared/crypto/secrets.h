// Randomness, and secrets that are stored so that a stolen database does not reveal them.
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

// Takes equally long for equal and for different bytes. Lengths are not secret.
bool constant_time_equal(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b);

// A device token or invite: 256 random bits in 64 hex digits. Its maker shows it once and keeps its hash_token; with
// this much randomness no slow hash is needed.
std::string make_token();
Digest hash_token(std::string_view token);
bool token_matches(std::string_view token, const Digest& stored);

// HMAC-SHA-256 of the text under a secret: proves later that this program wrote the text.
Digest keyed_digest(std::string_view secret, std::string_view text);

// Cost of a password hash: 2^log2_n blocks of 128·r bytes; the defaults take 128 MiB and about half a second.
struct ScryptOptions {
  int log2_n = 17;
  int r = 8;
  int p = 1;
};
constexpr std::size_t kPasswordBytesMax = 256;

// "$scrypt$ln=17,r=8,p=1$salt$hash" (salt and hash in hex): the parameters travel with the hash, so they
// may grow later. invalid_argument for an empty or overlong password.
Result<std::string> hash_password(std::string_view password, const ScryptOptions& options = {});
// A stored hash that no password matches; comparing with it takes as long as with a real one. Costs nothing to make.
std::string hash_of_no_password(const ScryptOptions& options = {});
// Whether `password` is the one that was hashed; corrupt when `stored` is not a hash_password string or asks for more
// than 2^20 blocks.
Result<bool> verify_password(std::string_view password, std::string_view stored);

}  // namespace starling::crypto
