// Ed25519 keys: one for each host, one for the CA, one for signing manifests.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/ids.h"
#include "shared/base/result.h"

struct evp_pkey_st;

namespace starling::crypto {

using Signature = std::array<std::uint8_t, 64>;
constexpr std::size_t kPemBytesMax = 16 * 1024;  // bound of any one PEM text from outside

// A key that verifies. Copies share one key, and may be used from any thread.
class PublicKey {
 public:
  // corrupt or unsupported for anything but one Ed25519 key ("-----BEGIN PUBLIC KEY-----").
  static Result<PublicKey> from_pem(std::string_view pem);
  [[nodiscard]] std::string to_pem() const;
  // Inverse of spki().
  static Result<PublicKey> from_spki(std::span<const std::uint8_t> der);

  // The key's SubjectPublicKeyInfo in DER (44 bytes); its SHA-256 is the holder's PeerId.
  [[nodiscard]] std::vector<std::uint8_t> spki() const;
  [[nodiscard]] PeerId peer_id() const;

  // corrupt when `signature` is not this key's over exactly `message`.
  [[nodiscard]] Status verify(std::span<const std::uint8_t> message, const Signature& signature) const;

  explicit PublicKey(std::shared_ptr<evp_pkey_st> key) : key_(std::move(key)) {}
  [[nodiscard]] evp_pkey_st* native() const { return key_.get(); }

 private:
  std::shared_ptr<evp_pkey_st> key_;
};

// Copies share the key, which never changes.
class PrivateKey {
 public:
  static PrivateKey generate();
  // PKCS #8, unencrypted: the file's permissions (0600) protect it.
  static Result<PrivateKey> from_pem(std::string_view pem);
  [[nodiscard]] std::string to_pem() const;

  [[nodiscard]] Signature sign(std::span<const std::uint8_t> message) const;
  [[nodiscard]] PublicKey public_key() const { return PublicKey(key_); }
  [[nodiscard]] PeerId peer_id() const { return public_key().peer_id(); }

  [[nodiscard]] evp_pkey_st* native() const { return key_.get(); }

 private:
  explicit PrivateKey(std::shared_ptr<evp_pkey_st> key) : key_(std::move(key)) {}
  std::shared_ptr<evp_pkey_st> key_;
};

}  // namespace starling::crypto
