#include "client/transport/record_cipher.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include <algorithm>
#include <array>
#include <string>

#include "shared/base/verify.h"

namespace starling::transport {
namespace {

constexpr std::uint8_t kVersion = 3;  // 0x0303 in every record's header, whatever version was agreed on

Error refuse(const char* why) { return {ErrorCode::corrupt, std::string("link: ") + why}; }

std::unique_ptr<Aead> fastest_aead(Aead::Algorithm algorithm, Aead::Direction direction) {
  std::unique_ptr<Aead> fast = ipsec_aead(algorithm, direction);
  return fast != nullptr ? std::move(fast) : openssl_aead(algorithm, direction);
}

}  // namespace

struct RecordCipher::Suite {
  std::uint16_t number;
  Aead::Algorithm algorithm;
  const char* digest;  // OpenSSL's name
  std::size_t key_bytes;
  std::size_t secret_bytes;

  static const Suite& of(std::uint16_t number) {
    static constexpr std::array<Suite, 3> kSuites = {{{0x1301, Aead::Algorithm::aes_128_gcm, "SHA256", 16, 32},
                                                      {0x1302, Aead::Algorithm::aes_256_gcm, "SHA384", 32, 48},
                                                      {0x1303, Aead::Algorithm::chacha20_poly1305, "SHA256", 32, 32}}};
    const auto* found =
        std::find_if(kSuites.begin(), kSuites.end(), [&](const Suite& s) { return s.number == number; });
    VERIFY(found != kSuites.end());
    return *found;
  }
};

RecordCipher::RecordCipher(std::uint16_t suite, std::span<const std::uint8_t> secret, Direction direction)
    : suite_(Suite::of(suite)),
      aead_(fastest_aead(suite_.algorithm, direction)),
      secret_(secret.begin(), secret.end()) {
  VERIFY(secret_.size() == suite_.secret_bytes);
  set_key();
}

RecordCipher::~RecordCipher() {
  OPENSSL_cleanse(secret_.data(), secret_.size());
  OPENSSL_cleanse(iv_.data(), iv_.size());
}

// HKDF-Expand-Label(secret, label, "", bytes), section 7.1.
std::vector<std::uint8_t> RecordCipher::expand(const char* label, std::size_t bytes) const {
  const std::unique_ptr<EVP_KDF, decltype(&EVP_KDF_free)> kdf(EVP_KDF_fetch(nullptr, "TLS13-KDF", nullptr),
                                                              EVP_KDF_free);
  const std::unique_ptr<EVP_KDF_CTX, decltype(&EVP_KDF_CTX_free)> context(EVP_KDF_CTX_new(kdf.get()), EVP_KDF_CTX_free);
  VERIFY(context != nullptr);
  int mode = EVP_KDF_HKDF_MODE_EXPAND_ONLY;
  std::string prefix = "tls13 ";
  std::string name = label;
  std::string digest = suite_.digest;
  std::vector<std::uint8_t> secret = secret_;  // the parameters' constructor takes no const pointer
  const std::array parameters = {
      OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), 0),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, secret.data(), secret.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_PREFIX, prefix.data(), prefix.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_LABEL, name.data(), name.size()),
      OSSL_PARAM_construct_end(),
  };
  std::vector<std::uint8_t> out(bytes);
  VERIFY(EVP_KDF_derive(context.get(), out.data(), out.size(), parameters.data()) == 1);
  OPENSSL_cleanse(secret.data(), secret.size());
  return out;
}

void RecordCipher::set_key() {
  std::vector<std::uint8_t> key = expand("key", suite_.key_bytes);
  iv_ = expand("iv", Aead::kNonceBytes);
  records_ = 0;
  aead_->set_key(key);
  OPENSSL_cleanse(key.data(), key.size());
}

void RecordCipher::update_key() {
  std::vector<std::uint8_t> next = expand("traffic upd", secret_.size());
  secret_.swap(next);
  OPENSSL_cleanse(next.data(), next.size());
  set_key();
}

// The record's number combined with the key's own nonce (section 5.3).
Aead::Nonce RecordCipher::next_nonce() {
  Aead::Nonce nonce;
  std::copy(iv_.begin(), iv_.end(), nonce.begin());
  for (std::size_t i = 0; i < sizeof records_; ++i) {
    nonce[nonce.size() - 1 - i] ^= static_cast<std::uint8_t>(records_ >> 8 * i);
  }
  ++records_;
  return nonce;
}

std::size_t RecordCipher::seal(RecordType type, std::span<const std::uint8_t> plaintext, std::span<std::uint8_t> out) {
  const std::size_t body = plaintext.size() + kSealBytes;
  VERIFY(plaintext.size() <= kPlaintextMax && out.size() >= kHeaderBytes + body);
  const std::array<std::uint8_t, kHeaderBytes> header = {static_cast<std::uint8_t>(RecordType::data), kVersion,
                                                         kVersion, static_cast<std::uint8_t>(body >> 8),
                                                         static_cast<std::uint8_t>(body)};
  std::copy(header.begin(), header.end(), out.begin());
  aead_->seal(next_nonce(), header, plaintext, static_cast<std::uint8_t>(type), out.data() + kHeaderBytes);
  return kHeaderBytes + body;
}

Result<std::size_t> RecordCipher::record_bytes(std::span<const std::uint8_t, kHeaderBytes> header) {
  const bool known = header[0] == static_cast<std::uint8_t>(RecordType::data) && header[1] == kVersion;
  const std::size_t body = static_cast<std::size_t>(header[3]) << 8 | header[4];
  if (!known || body < kSealBytes) return refuse("what came is no record of TLS");
  if (body > kPlaintextMax + kSealBytes) return refuse("a record is too long");
  return kHeaderBytes + body;
}

Result<RecordCipher::Opened> RecordCipher::open(std::span<const std::uint8_t> record, std::span<std::uint8_t> out) {
  VERIFY(record.size() >= kHeaderBytes + kSealBytes);
  const std::size_t held = record.size() - kHeaderBytes - kSealBytes;
  VERIFY(out.size() >= held);
  std::optional<std::uint8_t> last =
      aead_->open(next_nonce(), record.first(kHeaderBytes), record.subspan(kHeaderBytes), out.data());
  if (!last) return refuse("a record was changed on its way");
  // The type is the last byte that is not one of the padding's zeros.
  std::size_t size = held;
  while (*last == 0 && size > 0) last = out[--size];
  if (*last < static_cast<std::uint8_t>(RecordType::alert) || *last > static_cast<std::uint8_t>(RecordType::data)) {
    return refuse("a record is of no known type");
  }
  return Opened{static_cast<RecordType>(*last), size};
}

}  // namespace starling::transport
