// Strong identifiers: a PeerId is never mistaken for a digest of something else.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "shared/base/result.h"

namespace starling {

// Lower-case hexadecimal of `bytes`.
std::string to_hex(std::span<const std::uint8_t> bytes);
// Inverse of to_hex into exactly out.size() bytes; any other text is invalid_argument.
Status from_hex(std::string_view text, std::span<std::uint8_t> out);

// N bytes with a type of their own. Tag only names the type.
template <typename Tag, std::size_t N>
struct FixedId {
  static constexpr std::size_t kSize = N;
  std::array<std::uint8_t, N> bytes{};

  friend auto operator<=>(const FixedId&, const FixedId&) = default;

  [[nodiscard]] std::string hex() const { return to_hex(bytes); }
  // First eight hex digits: enough for people, never for a decision.
  [[nodiscard]] std::string brief() const { return hex().substr(0, 8); }
  [[nodiscard]] bool is_zero() const { return *this == FixedId{}; }

  static Result<FixedId> from_hex(std::string_view text) {
    FixedId id;
    STARLING_TRY(starling::from_hex(text, id.bytes));
    return id;
  }
};

struct PeerTag;
struct DigestTag;
struct GroupTag;
// SHA-256 of a host's Ed25519 public key (its SubjectPublicKeyInfo): the host's identity on every link.
using PeerId = FixedId<PeerTag, 32>;
// SHA-256 of some bytes: the name of an artefact, a state or a plan.
using Digest = FixedId<DigestTag, 32>;
// Name of one averaging group of one round.
using GroupId = FixedId<GroupTag, 16>;

using RunId = std::string;         // slug chosen by the operator: [a-z0-9-]{1,40}
using AccountId = std::int64_t;    // a volunteer's account at one coordinator
using RoundIndex = std::int64_t;   // number of the global step under way, from 0
using SampleCount = std::int64_t;  // training samples

}  // namespace starling

// Lets identifiers be keys of unordered containers.
template <typename Tag, std::size_t N>
struct std::hash<starling::FixedId<Tag, N>> {
  std::size_t operator()(const starling::FixedId<Tag, N>& id) const noexcept {
    std::size_t h = 0;  // ids are digests: any eight bytes are as good as a hash
    std::memcpy(&h, id.bytes.data(), sizeof h);
    return h;
  }
};
