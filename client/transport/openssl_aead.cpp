#include <openssl/err.h>
#include <openssl/evp.h>

#include <algorithm>

#include "client/transport/aead.h"
#include "shared/base/verify.h"

namespace starling::transport {
namespace {

const char* name_of(Aead::Algorithm algorithm) {
  switch (algorithm) {
    case Aead::Algorithm::aes_128_gcm:
      return "AES-128-GCM";
    case Aead::Algorithm::aes_256_gcm:
      return "AES-256-GCM";
    case Aead::Algorithm::chacha20_poly1305:
      return "ChaCha20-Poly1305";
  }
  VERIFY(false);
}

struct FreeContext {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};

class OpensslAead final : public Aead {
 public:
  OpensslAead(Algorithm algorithm, Direction direction)
      : algorithm_(algorithm), direction_(direction), context_(EVP_CIPHER_CTX_new()) {
    VERIFY(context_ != nullptr);
  }

  void set_key(std::span<const std::uint8_t> key) override {
    const std::unique_ptr<EVP_CIPHER, decltype(&EVP_CIPHER_free)> cipher(
        EVP_CIPHER_fetch(nullptr, name_of(algorithm_), nullptr), EVP_CIPHER_free);
    VERIFY(cipher != nullptr && key.size() == static_cast<std::size_t>(EVP_CIPHER_get_key_length(cipher.get())));
    const int seals = direction_ == Direction::seals ? 1 : 0;
    VERIFY(EVP_CipherInit_ex2(context_.get(), cipher.get(), key.data(), nullptr, seals, nullptr) == 1);
  }

  void seal(const Nonce& nonce, std::span<const std::uint8_t> header, std::span<const std::uint8_t> plaintext,
            std::uint8_t last, std::uint8_t* out) override {
    std::uint8_t* const end = out + plaintext.size();
    VERIFY(begin(nonce, header) && update(plaintext, out) && update({&last, 1}, end) && finish(end + 1) &&
           EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_GET_TAG, kTagBytes, end + 1) == 1);
  }

  std::optional<std::uint8_t> open(const Nonce& nonce, std::span<const std::uint8_t> header,
                                   std::span<const std::uint8_t> sealed, std::uint8_t* out) override {
    VERIFY(sealed.size() > kTagBytes);
    const std::size_t held = sealed.size() - kTagBytes - 1;
    std::array<std::uint8_t, kTagBytes> tag;  // EVP_CIPHER_CTX_ctrl takes no const pointer
    std::copy_n(sealed.end() - kTagBytes, kTagBytes, tag.begin());
    std::uint8_t last = 0;
    std::uint8_t none = 0;  // a stream cipher writes nothing at its end
    const bool opened =
        begin(nonce, header) && update(sealed.first(held), out) && update(sealed.subspan(held, 1), &last) &&
        EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_SET_TAG, kTagBytes, tag.data()) == 1 && finish(&none);
    if (!opened) {
      ERR_clear_error();
      return std::nullopt;
    }
    return last;
  }

 private:
  bool begin(const Nonce& nonce, std::span<const std::uint8_t> header) {
    int bytes = 0;
    return EVP_CipherInit_ex2(context_.get(), nullptr, nullptr, nonce.data(), -1, nullptr) == 1 &&
           EVP_CipherUpdate(context_.get(), nullptr, &bytes, header.data(), static_cast<int>(header.size())) == 1;
  }
  bool update(std::span<const std::uint8_t> in, std::uint8_t* out) {
    int bytes = 0;
    return in.empty() || EVP_CipherUpdate(context_.get(), out, &bytes, in.data(), static_cast<int>(in.size())) == 1;
  }
  bool finish(std::uint8_t* out) {
    int bytes = 0;
    return EVP_CipherFinal_ex(context_.get(), out, &bytes) == 1;
  }

  const Algorithm algorithm_;
  const Direction direction_;
  const std::unique_ptr<EVP_CIPHER_CTX, FreeContext> context_;
};

}  // namespace

std::unique_ptr<Aead> openssl_aead(Aead::Algorithm algorithm, Aead::Direction direction) {
  return std::make_unique<OpensslAead>(algorithm, direction);
}

}  // namespace starling::transport
