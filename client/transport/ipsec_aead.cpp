#include "client/transport/aead.h"

#ifdef STARLING_HAS_IPSEC_MB

#include <intel-ipsec-mb.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <optional>

#include "shared/base/verify.h"

namespace starling::transport {
namespace {

// The library's functions for one key length and one direction.
struct Functions {
  aes_gcm_pre_t expand_key;
  aes_gcm_init_t begin;
  aes_gcm_enc_dec_update_t update;
  aes_gcm_enc_dec_finalize_t finish;
};

// The library's functions for this processor.
struct Library {
  Functions seal_128, open_128, seal_256, open_256;
};

// Empty where the library is not worth using. The object that chooses the functions has 200 KB for other ciphers, and
// is not kept.
std::optional<Library> choose_library() {
  const std::unique_ptr<IMB_MGR, void (*)(IMB_MGR*)> chooser(alloc_mb_mgr(0), free_mb_mgr);
  if (chooser == nullptr) return std::nullopt;
  init_mb_mgr_auto(chooser.get(), nullptr);
  const IMB_MGR& of = *chooser;
  const bool fast = (of.features & IMB_FEATURE_AESNI) != 0 && (of.features & IMB_FEATURE_AVX2) != 0;
  if (!fast || imb_get_errno(chooser.get()) != 0) return std::nullopt;
  return Library{.seal_128 = {of.gcm128_pre, of.gcm128_init, of.gcm128_enc_update, of.gcm128_enc_finalize},
                 .open_128 = {of.gcm128_pre, of.gcm128_init, of.gcm128_dec_update, of.gcm128_dec_finalize},
                 .seal_256 = {of.gcm256_pre, of.gcm256_init, of.gcm256_enc_update, of.gcm256_enc_finalize},
                 .open_256 = {of.gcm256_pre, of.gcm256_init, of.gcm256_dec_update, of.gcm256_dec_finalize}};
}

// Plaintext lies in vectors that are in no cache: while one piece is encrypted, the bytes behind it are fetched, which
// are the next piece or that of the next record. Nothing is read, so the address may be past the vector's end.
constexpr std::size_t kFetchedBytes = 2048;

void fetch(const std::uint8_t* piece) {
  constexpr std::uintptr_t kLineBytes = 64;
  const auto begin = reinterpret_cast<std::uintptr_t>(piece);
  for (std::uintptr_t at = 0; at < kFetchedBytes; at += kLineBytes) {
    __builtin_prefetch(reinterpret_cast<const void*>(begin + at));
  }
}

class IpsecAead final : public Aead {
 public:
  IpsecAead(const Functions& functions, std::size_t key_bytes) : functions_(functions), key_bytes_(key_bytes) {}
  ~IpsecAead() override {
    OPENSSL_cleanse(&key_, sizeof key_);
    OPENSSL_cleanse(&context_, sizeof context_);
  }
  IpsecAead(const IpsecAead&) = delete;
  IpsecAead& operator=(const IpsecAead&) = delete;

  void set_key(std::span<const std::uint8_t> key) override {
    VERIFY(key.size() == key_bytes_);
    functions_.expand_key(key.data(), &key_);
  }

  void seal(const Nonce& nonce, std::span<const std::uint8_t> header, std::span<const std::uint8_t> plaintext,
            std::uint8_t last, std::uint8_t* out) override {
    std::uint8_t* const end = out + plaintext.size();
    begin(nonce, header);
    for (std::size_t at = 0; at < plaintext.size(); at += kFetchedBytes) {
      const auto piece = plaintext.subspan(at, std::min(kFetchedBytes, plaintext.size() - at));
      if (piece.size() == kFetchedBytes) fetch(piece.data() + piece.size());
      update(piece, out + at);
    }
    update({&last, 1}, end);
    functions_.finish(&key_, &context_, end + 1, kTagBytes);
  }

  std::optional<std::uint8_t> open(const Nonce& nonce, std::span<const std::uint8_t> header,
                                   std::span<const std::uint8_t> sealed, std::uint8_t* out) override {
    VERIFY(sealed.size() > kTagBytes);
    const std::size_t held = sealed.size() - kTagBytes - 1;
    std::uint8_t last = 0;
    std::array<std::uint8_t, kTagBytes> tag;
    begin(nonce, header);
    update(sealed.first(held), out);
    update(sealed.subspan(held, 1), &last);
    functions_.finish(&key_, &context_, tag.data(), kTagBytes);
    if (CRYPTO_memcmp(tag.data(), sealed.data() + held + 1, kTagBytes) != 0) return std::nullopt;
    return last;
  }

 private:
  void begin(const Nonce& nonce, std::span<const std::uint8_t> header) {
    functions_.begin(&key_, &context_, nonce.data(), header.data(), header.size());
  }
  void update(std::span<const std::uint8_t> in, std::uint8_t* out) {
    if (!in.empty()) functions_.update(&key_, &context_, out, in.data(), in.size());
  }

  const Functions functions_;
  const std::size_t key_bytes_;
  alignas(64) gcm_key_data key_;  // the library's header aligns it in the library's own compilations only
  gcm_context_data context_;
};

}  // namespace

std::unique_ptr<Aead> ipsec_aead(Aead::Algorithm algorithm, Aead::Direction direction) {
  static const std::optional<Library> library = choose_library();
  if (algorithm == Aead::Algorithm::chacha20_poly1305 || !library) return nullptr;
  const bool seals = direction == Aead::Direction::seals;
  if (algorithm == Aead::Algorithm::aes_128_gcm) {
    return std::make_unique<IpsecAead>(seals ? library->seal_128 : library->open_128, 16);
  }
  return std::make_unique<IpsecAead>(seals ? library->seal_256 : library->open_256, 32);
}

}  // namespace starling::transport

#else

namespace starling::transport {

std::unique_ptr<Aead> ipsec_aead(Aead::Algorithm /*algorithm*/, Aead::Direction /*direction*/) { return nullptr; }

}  // namespace starling::transport

#endif
