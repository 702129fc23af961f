#include "shared/crypto/secrets.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <array>
#include <charconv>
#include <vector>

#include "shared/crypto/digest.h"
#include "shared/crypto/openssl_handles.h"
#include "shared/crypto/scrypt.h"

namespace starling::crypto {
namespace {

constexpr std::size_t kSaltBytes = 16;
constexpr std::size_t kHashBytes = 32;
constexpr int kLog2NMax = 20;
constexpr int kRMax = 32;
constexpr int kPMax = 16;
constexpr std::string_view kPrefix = "$scrypt$";

// Removes "name=<number>" and the separator after it from the front of `text`.
bool take_number(std::string_view& text, std::string_view name, char separator, int& out) {
  if (!text.starts_with(name)) return false;
  text.remove_prefix(name.size());
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end == text.data() + text.size() || *end != separator) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return true;
}

struct StoredPassword {
  ScryptOptions options;
  std::array<std::uint8_t, kSaltBytes> salt{};
  std::array<std::uint8_t, kHashBytes> hash{};
};

Result<StoredPassword> parse_stored(std::string_view text) {
  const Error error{ErrorCode::corrupt, "check password: the stored hash is damaged"};
  StoredPassword stored;
  if (!text.starts_with(kPrefix)) return error;
  text.remove_prefix(kPrefix.size());
  if (!take_number(text, "ln=", ',', stored.options.log2_n)) return error;
  if (!take_number(text, "r=", ',', stored.options.r)) return error;
  if (!take_number(text, "p=", '$', stored.options.p)) return error;
  constexpr std::size_t kSaltDigits = 2 * kSaltBytes;
  if (!in_range(stored.options) || text.size() != kSaltDigits + 1 + 2 * kHashBytes || text[kSaltDigits] != '$') {
    return error;
  }
  if (!from_hex(text.substr(0, kSaltDigits), stored.salt).ok()) return error;
  if (!from_hex(text.substr(kSaltDigits + 1), stored.hash).ok()) return error;
  return stored;
}

std::string stored_form(const ScryptOptions& options, std::span<const std::uint8_t> salt,
                        std::span<const std::uint8_t> hash) {
  return std::string(kPrefix) + "ln=" + std::to_string(options.log2_n) + ",r=" + std::to_string(options.r) +
         ",p=" + std::to_string(options.p) + "$" + to_hex(salt) + "$" + to_hex(hash);
}

}  // namespace

bool in_range(const ScryptOptions& options) {
  return options.log2_n >= 1 && options.log2_n <= kLog2NMax && options.r >= 1 && options.r <= kRMax && options.p >= 1 &&
         options.p <= kPMax;
}

Status scrypt(std::string_view password, std::span<const std::uint8_t> salt, const ScryptOptions& options,
              std::span<std::uint8_t> out) {
  const std::uint64_t n = std::uint64_t{1} << options.log2_n;
  // OpenSSL refuses to use more than 32 MiB by default; the two terms are its working set, and 1 MiB is the margin.
  const std::uint64_t blocks = n + static_cast<std::uint64_t>(options.p);
  const std::uint64_t memory_max = 128 * static_cast<std::uint64_t>(options.r) * blocks + (1 << 20);
  if (EVP_PBE_scrypt(password.data(), password.size(), salt.data(), salt.size(), n,
                     static_cast<std::uint64_t>(options.r), static_cast<std::uint64_t>(options.p), memory_max,
                     out.data(), out.size()) != 1) {
    return openssl_error(ErrorCode::internal, "hash password");
  }
  return {};
}

void fill_random(std::span<std::uint8_t> out) { VERIFY(RAND_bytes(out.data(), static_cast<int>(out.size())) == 1); }

std::uint64_t random_u64() {
  std::array<std::uint8_t, 8> bytes{};
  fill_random(bytes);
  std::uint64_t value = 0;
  for (const std::uint8_t byte : bytes) value = value << 8 | byte;
  return value;
}

bool constant_time_equal(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string make_token() {
  std::array<std::uint8_t, 32> bytes{};
  fill_random(bytes);
  return to_hex(bytes);
}

Digest hash_token(std::string_view token) {
  Sha256 hash;
  hash.update("starling token\n");  // the prefix separates a token's hash from any other digest of this text
  hash.update(token);
  return hash.finish();
}

bool token_matches(std::string_view token, const Digest& stored) {
  return constant_time_equal(hash_token(token).bytes, stored.bytes);
}

Digest keyed_digest(std::string_view secret, std::string_view text) {
  Digest digest;
  unsigned int size = 0;
  const std::span<const std::uint8_t> bytes = as_bytes(text);
  VERIFY(HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()), bytes.data(), bytes.size(),
              digest.bytes.data(), &size) != nullptr);
  return digest;
}

Result<std::string> hash_password(std::string_view password, const ScryptOptions& options) {
  if (password.empty() || password.size() > kPasswordBytesMax) {
    return Error{ErrorCode::invalid_argument,
                 "set password: it must have 1 to " + std::to_string(kPasswordBytesMax) + " bytes"};
  }
  VERIFY(in_range(options));
  std::array<std::uint8_t, kSaltBytes> salt{};
  std::array<std::uint8_t, kHashBytes> hash{};
  fill_random(salt);
  STARLING_TRY(scrypt(password, salt, options, hash));
  return stored_form(options, salt, hash);
}

std::string hash_of_no_password(const ScryptOptions& options) {
  VERIFY(in_range(options));
  std::array<std::uint8_t, kSaltBytes> salt{};
  std::array<std::uint8_t, kHashBytes> hash{};
  fill_random(salt);
  fill_random(hash);
  return stored_form(options, salt, hash);
}

Result<bool> verify_password(std::string_view password, std::string_view stored) {
  STARLING_ASSIGN(const StoredPassword expected, parse_stored(stored));
  if (password.empty() || password.size() > kPasswordBytesMax) return false;
  std::array<std::uint8_t, kHashBytes> hash{};
  STARLING_TRY(scrypt(password, expected.salt, expected.options, hash));
  return constant_time_equal(hash, expected.hash);
}

}  // namespace starling::crypto
