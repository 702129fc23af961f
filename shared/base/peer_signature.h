// A peer's signature that needs no certificate: the key travels with it, and the SHA-256 of the key is the peer's id.
#pragma once

#include <array>
#include <cstdint>

namespace starling {

struct PeerSignature {
  std::array<std::uint8_t, 32> key{};        // Ed25519, the raw bytes
  std::array<std::uint8_t, 64> signature{};  // all zeros: there is none
  friend bool operator==(const PeerSignature&, const PeerSignature&) = default;
  [[nodiscard]] bool is_missing() const { return *this == PeerSignature{}; }
};

}  // namespace starling
