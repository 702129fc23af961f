#include "client/transport/record_cipher.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include <algorithm>
#include <array>
#include <string>

#include "shared/base/verify.h"

namespace starling::transport {
namespace {

constexpr std::size_t kIvBytes = 12;
constexpr std::size_t kTagBytes = 16;
constexpr std::uint8_t kVersion = 3;  // 0x0303 in every record's header, whatever was agreed on

Error refuse(const char* why) {
  ERR_clear_error();
  return {ErrorCode::corrupt, std::string("link: ") + why};
}

}  // namespace

// By OpenSSL's names.
struct RecordCipher::Suite {
  std::uint16_t number;
  const char* cipher;
  const char* digest;
  std::size_t key_bytes;
  std::size_t secret_bytes;

  static const Suite& of(std::uint16_t number) {
    static constexpr std::array<Suite, 3> kSuites = {{{0x1301, "AES-128-GCM", "SHA256", 16, 32},
                                                      {0x1302, "AES-256-GCM", "SHA384", 32, 48},
                                                      {0x1303, "ChaCha20-Poly1305", "SHA256", 32, 32}}};
    const auto* found =
        std::find_if(kSuites.begin(), kSuites.end(), [&](const Suite& s) { return s.number == number; });
    VERIFY(found != kSuites.end());
    return *found;
  }
};

void RecordCipher::FreeContext::operator()(evp_cipher_ctx_st* context) const { EVP_CIPHER_CTX_free(context); }

RecordCipher::RecordCipher(std::uint16_t suite, std::span<const std::uint8_t> secret, Direction direction)
    : suite_(Suite::of(suite)),
      direction_(direction),
      context_(EVP_CIPHER_CTX_new()),
      secret_(secret.begin(), secret.end()) {
  VERIFY(context_ != nullptr && secret_.size() == suite_.secret_bytes);
  set_key();
}

RecordCipher::~RecordCipher() {
  OPENSSL_cleanse(secret_.data(), secret_.size());
  OPENSSL_cleanse(iv_.data(), iv_.size());
}

// HKDF-Expand-Label(secret, label, "", bytes) of section 7.1.
std::vector<std::uint8_t> RecordCipher::expand(const char* label, std::size_t bytes) const {
  const std::unique_ptr<EVP_KDF, decltype(&EVP_KDF_free)> kdf(EVP_KDF_fetch(nullptr, "TLS13-KDF", nullptr),
                                                              EVP_KDF_free);
  const std::unique_ptr<EVP_KDF_CTX, decltype(&EVP_KDF_CTX_free)> context(EVP_KDF_CTX_new(kdf.get()), EVP_KDF_CTX_free);
  VERIFY(context != nullptr);
  int mode = EVP_KDF_HKDF_MODE_EXPAND_ONLY;
  std::string prefix = "tls13 ";
  std::string name = label;
  std::string digest = suite_.digest;
  std::vector<std::uint8_t> secret = secret_;  // parameters are not const
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
  iv_ = expand("iv", kIvBytes);
  records_ = 0;
  const std::unique_ptr<EVP_CIPHER, decltype(&EVP_CIPHER_free)> cipher(
      EVP_CIPHER_fetch(nullptr, suite_.cipher, nullptr), EVP_CIPHER_free);
  VERIFY(cipher != nullptr);
  const int seals = direction_ == Direction::seals ? 1 : 0;
  VERIFY(EVP_CipherInit_ex2(context_.get(), cipher.get(), key.data(), nullptr, seals, nullptr) == 1);
  OPENSSL_cleanse(key.data(), key.size());
}

void RecordCipher::update_key() {
  std::vector<std::uint8_t> next = expand("traffic upd", secret_.size());
  secret_.swap(next);
  OPENSSL_cleanse(next.data(), next.size());
  set_key();
}

// The nonce is the number of the record, over the key's own (section 5.3); the header is vouched for, too.
bool RecordCipher::begin_record(const std::uint8_t* header) {
  std::array<std::uint8_t, kIvBytes> nonce;
  std::copy(iv_.begin(), iv_.end(), nonce.begin());
  for (std::size_t i = 0; i < sizeof records_; ++i)
    nonce[kIvBytes - 1 - i] ^= static_cast<std::uint8_t>(records_ >> 8 * i);
  ++records_;
  int bytes = 0;
  return EVP_CipherInit_ex2(context_.get(), nullptr, nullptr, nonce.data(), -1, nullptr) == 1 &&
         EVP_CipherUpdate(context_.get(), nullptr, &bytes, header, kHeaderBytes) == 1;
}

std::size_t RecordCipher::seal(RecordType type, std::span<const std::uint8_t> plaintext, std::span<std::uint8_t> out) {
  const std::size_t body = plaintext.size() + kSealBytes;
  VERIFY(plaintext.size() <= kPlaintextMax && out.size() >= kHeaderBytes + body);
  const std::array<std::uint8_t, kHeaderBytes> header = {static_cast<std::uint8_t>(RecordType::data), kVersion,
                                                         kVersion, static_cast<std::uint8_t>(body >> 8),
                                                         static_cast<std::uint8_t>(body)};
  std::copy(header.begin(), header.end(), out.begin());
  std::uint8_t* at = out.data() + kHeaderBytes;
  const auto true_type = static_cast<std::uint8_t>(type);
  int bytes = 0;
  bool sealed = begin_record(out.data());
  if (!plaintext.empty()) {
    const auto size = static_cast<int>(plaintext.size());
    sealed = sealed && EVP_CipherUpdate(context_.get(), at, &bytes, plaintext.data(), size) == 1;
    at += size;
  }
  sealed = sealed && EVP_CipherUpdate(context_.get(), at++, &bytes, &true_type, 1) == 1 &&
           EVP_CipherFinal_ex(context_.get(), at, &bytes) == 1 &&
           EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_GET_TAG, kTagBytes, at) == 1;
  VERIFY(sealed);
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
  const std::uint8_t* const body = record.data() + kHeaderBytes;
  std::array<std::uint8_t, kTagBytes> tag;  // not const to EVP_CIPHER_CTX_ctrl
  std::copy_n(record.end() - kTagBytes, kTagBytes, tag.begin());
  std::uint8_t last = 0;
  std::uint8_t last_of_none = 0;  // a stream cipher has nothing left in the end
  int bytes = 0;
  const bool opened =
      begin_record(record.data()) &&
      (held == 0 || EVP_CipherUpdate(context_.get(), out.data(), &bytes, body, static_cast<int>(held)) == 1) &&
      EVP_CipherUpdate(context_.get(), &last, &bytes, body + held, 1) == 1 &&
      EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_SET_TAG, kTagBytes, tag.data()) == 1 &&
      EVP_CipherFinal_ex(context_.get(), &last_of_none, &bytes) == 1;
  if (!opened) return refuse("a record was changed on its way");
  // The type is the last byte that is none of the padding's zeros.
  std::size_t size = held;
  while (last == 0 && size > 0) last = out[--size];
  if (last < static_cast<std::uint8_t>(RecordType::alert) || last > static_cast<std::uint8_t>(RecordType::data)) {
    return refuse("a record is of no known type");
  }
  return Opened{static_cast<RecordType>(last), size};
}

}  // namespace starling::transport
