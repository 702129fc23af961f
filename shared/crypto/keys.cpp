#include "shared/crypto/keys.h"

#include "shared/crypto/openssl_handles.h"

namespace starling::crypto {
namespace {

// Accepts unencrypted texts only: OpenSSL must never ask for a passphrase on the terminal.
int no_passphrase(char*, int, int, void*) { return -1; }

template <typename Read>
Result<std::shared_ptr<EVP_PKEY>> read_key(std::string_view pem, Read read, std::string_view what) {
  if (pem.size() > kPemBytesMax) return Error{ErrorCode::corrupt, std::string(what) + ": text is too long"};
  const BioPtr bio = bio_of(pem);
  KeyPtr key(read(bio.get(), nullptr, no_passphrase, nullptr));
  if (key == nullptr) return openssl_error(ErrorCode::corrupt, what);
  if (!is_ed25519(key.get())) {
    return Error{ErrorCode::unsupported, std::string(what) + ": it is not an Ed25519 key"};
  }
  return std::shared_ptr<EVP_PKEY>(std::move(key));
}

}  // namespace

Result<PublicKey> PublicKey::from_pem(std::string_view pem) {
  STARLING_ASSIGN(auto key, read_key(pem, PEM_read_bio_PUBKEY, "read public key"));
  return PublicKey(std::move(key));
}

Result<PublicKey> PublicKey::from_spki(std::span<const std::uint8_t> der) {
  if (der.size() > kPemBytesMax) return Error{ErrorCode::corrupt, "read public key: too long"};
  const unsigned char* at = der.data();
  KeyPtr key(d2i_PUBKEY(nullptr, &at, static_cast<long>(der.size())));
  if (key == nullptr || at != der.data() + der.size()) return openssl_error(ErrorCode::corrupt, "read public key");
  if (!is_ed25519(key.get())) return Error{ErrorCode::unsupported, "read public key: it is not an Ed25519 key"};
  return PublicKey(std::shared_ptr<EVP_PKEY>(std::move(key)));
}

std::string PublicKey::to_pem() const {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  VERIFY(bio != nullptr && PEM_write_bio_PUBKEY(bio.get(), key_.get()) == 1);
  return bio_text(bio.get());
}

std::vector<std::uint8_t> PublicKey::spki() const {
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(key_.get(), &der);
  VERIFY(size > 0);
  std::vector<std::uint8_t> bytes(der, der + size);
  OPENSSL_free(der);
  return bytes;
}

PeerId PublicKey::peer_id() const { return spki_digest(key_.get()); }

Status PublicKey::verify(std::span<const std::uint8_t> message, const Signature& signature) const {
  const MdContextPtr context(EVP_MD_CTX_new());
  VERIFY(context != nullptr && EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key_.get()) == 1);
  const int verified =
      EVP_DigestVerify(context.get(), signature.data(), signature.size(), message.data(), message.size());
  ERR_clear_error();
  if (verified != 1) return Error{ErrorCode::corrupt, "check signature: it is not this key's over these bytes"};
  return {};
}

PrivateKey PrivateKey::generate() {
  KeyPtr key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  VERIFY(key != nullptr);
  return PrivateKey(std::shared_ptr<EVP_PKEY>(std::move(key)));
}

Result<PrivateKey> PrivateKey::from_pem(std::string_view pem) {
  STARLING_ASSIGN(auto key, read_key(pem, PEM_read_bio_PrivateKey, "read private key"));
  return PrivateKey(std::move(key));
}

std::string PrivateKey::to_pem() const {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  VERIFY(bio != nullptr);
  VERIFY(PEM_write_bio_PKCS8PrivateKey(bio.get(), key_.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1);
  return bio_text(bio.get());
}

Signature PrivateKey::sign(std::span<const std::uint8_t> message) const {
  // Ed25519 hashes by itself and in one pass: no digest is named, and there is no streaming form.
  const MdContextPtr context(EVP_MD_CTX_new());
  VERIFY(context != nullptr && EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_.get()) == 1);
  Signature signature{};
  std::size_t size = signature.size();
  VERIFY(EVP_DigestSign(context.get(), signature.data(), &size, message.data(), message.size()) == 1);
  VERIFY(size == signature.size());
  return signature;
}

}  // namespace starling::crypto
