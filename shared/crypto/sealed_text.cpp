#include "shared/crypto/sealed_text.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <array>
#include <memory>
#include <span>

#include "shared/crypto/digest.h"
#include "shared/crypto/openssl_handles.h"
#include "shared/crypto/scrypt.h"

namespace starling::crypto {
namespace {

// The parts of a sealed text, in order: this line, the cost (a byte for each number), salt, nonce, the encrypted bytes,
// and their tag, which covers all that comes before them, too.
constexpr std::string_view kFirstLine = "starling sealed text 1\n";
constexpr std::size_t kCostBytes = 3;
constexpr std::size_t kSaltBytes = 16;
constexpr std::size_t kNonceBytes = 12;
constexpr std::size_t kTagBytes = 16;
constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kHeadBytes = kFirstLine.size() + kCostBytes + kSaltBytes + kNonceBytes;

using Cipher = std::unique_ptr<EVP_CIPHER_CTX, FreeWith<EVP_CIPHER_CTX_free>>;

// A key, which is wiped when it is not needed any more.
struct Key {
  ~Key() { OPENSSL_cleanse(bytes.data(), bytes.size()); }
  std::array<std::uint8_t, kKeyBytes> bytes{};
};

std::uint8_t* bytes_of(std::string& text) { return reinterpret_cast<std::uint8_t*>(text.data()); }

// Makes the key of the passphrase, by the cost and the salt that stand in the head.
Status make_key(std::string_view passphrase, std::string_view head, Key& key) {
  const auto cost = as_bytes(head.substr(kFirstLine.size(), kCostBytes));
  const auto salt = as_bytes(head.substr(kFirstLine.size() + kCostBytes, kSaltBytes));
  const ScryptOptions options{cost[0], cost[1], cost[2]};
  if (!in_range(options)) return Error{ErrorCode::corrupt, "this asks for a key that takes too long to make"};
  return scrypt(passphrase, salt, options, key.bytes);
}

std::string_view nonce_of(std::string_view head) { return head.substr(kHeadBytes - kNonceBytes); }

// Appends the encrypted text and its tag to the head.
bool encrypt(const Key& key, std::string_view text, std::string& sealed) {
  const Cipher cipher(EVP_CIPHER_CTX_new());
  const std::string head = sealed;
  int bytes = 0;
  sealed.resize(kHeadBytes + text.size() + kTagBytes);
  std::uint8_t* out = bytes_of(sealed) + kHeadBytes;
  return cipher != nullptr &&
         EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, key.bytes.data(),
                            as_bytes(nonce_of(head)).data()) == 1 &&
         EVP_EncryptUpdate(cipher.get(), nullptr, &bytes, as_bytes(head).data(), static_cast<int>(head.size())) == 1 &&
         EVP_EncryptUpdate(cipher.get(), out, &bytes, as_bytes(text).data(), static_cast<int>(text.size())) == 1 &&
         EVP_EncryptFinal_ex(cipher.get(), out + text.size(), &bytes) == 1 &&
         EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes, out + text.size()) == 1;
}

// False for another key and for changed bytes: nothing tells which.
bool decrypt(const Key& key, std::string_view sealed, std::string& text) {
  const Cipher cipher(EVP_CIPHER_CTX_new());
  const std::string_view head = sealed.substr(0, kHeadBytes);
  const std::string_view body = sealed.substr(kHeadBytes, sealed.size() - kHeadBytes - kTagBytes);
  std::string tag(sealed.substr(sealed.size() - kTagBytes));
  int bytes = 0;
  text.resize(body.size());
  return cipher != nullptr &&
         EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, key.bytes.data(),
                            as_bytes(nonce_of(head)).data()) == 1 &&
         EVP_DecryptUpdate(cipher.get(), nullptr, &bytes, as_bytes(head).data(), static_cast<int>(head.size())) == 1 &&
         EVP_DecryptUpdate(cipher.get(), bytes_of(text), &bytes, as_bytes(body).data(),
                           static_cast<int>(body.size())) == 1 &&
         EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, tag.data()) == 1 &&
         EVP_DecryptFinal_ex(cipher.get(), bytes_of(text) + text.size(), &bytes) == 1;
}

}  // namespace

Result<std::string> seal(std::string_view passphrase, std::string_view text, const ScryptOptions& cost) {
  if (passphrase.empty() || passphrase.size() > kPasswordBytesMax) {
    return Error{ErrorCode::invalid_argument, "a passphrase has 1 to " + std::to_string(kPasswordBytesMax) + " bytes"};
  }
  std::string sealed(kFirstLine);
  for (const int number : {cost.log2_n, cost.r, cost.p}) sealed += static_cast<char>(number);
  std::array<std::uint8_t, kSaltBytes + kNonceBytes> fresh{};
  fill_random(fresh);
  sealed.append(fresh.begin(), fresh.end());
  Key key;
  STARLING_TRY(make_key(passphrase, sealed, key));
  if (!encrypt(key, text, sealed)) return openssl_error(ErrorCode::internal, "encrypt");
  return sealed;
}

Result<std::string> unseal(std::string_view passphrase, std::string_view sealed) {
  if (!sealed.starts_with(kFirstLine) || sealed.size() < kHeadBytes + kTagBytes) {
    return Error{ErrorCode::corrupt, "this is nothing that a passphrase opens"};
  }
  Key key;
  STARLING_TRY(make_key(passphrase, sealed, key));
  std::string text;
  if (decrypt(key, sealed, text)) return text;
  OPENSSL_cleanse(text.data(), text.size());
  return Error{ErrorCode::permission_denied, "the passphrase is wrong, or the bytes were changed"};
}

}  // namespace starling::crypto
