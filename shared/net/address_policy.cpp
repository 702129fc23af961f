#include "shared/net/address_policy.h"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace starling::net {
namespace {

enum class Reach { global, local_network, loopback, never };

// Bytes of an address in network order, IPv4 as an IPv4-mapped IPv6 address.
using AddressBytes = std::array<std::uint8_t, 16>;

constexpr std::array<std::uint8_t, 12> kMappedPrefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

std::optional<AddressBytes> parse(std::string_view host) {
  const std::string text(host);
  AddressBytes bytes{};
  if (inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) return bytes;
  std::copy(kMappedPrefix.begin(), kMappedPrefix.end(), bytes.begin());
  if (inet_pton(AF_INET, text.c_str(), bytes.data() + kMappedPrefix.size()) == 1) return bytes;
  return std::nullopt;
}

// IANA special-purpose registry (RFC 6890), grouped by what it means for a volunteer.
Reach reach_v4(std::uint8_t a, std::uint8_t b) {
  if (a == 127) return Reach::loopback;
  const bool shared_by_carrier = a == 100 && (b & 0xc0) == 64;
  if (a == 10 || (a == 172 && (b & 0xf0) == 16) || (a == 192 && b == 168) || shared_by_carrier) {
    return Reach::local_network;
  }
  const bool link_local = a == 169 && b == 254;
  const bool multicast_or_reserved = a >= 224;
  return a == 0 || link_local || multicast_or_reserved ? Reach::never : Reach::global;
}

Reach reach_of(const AddressBytes& bytes) {
  if (std::equal(kMappedPrefix.begin(), kMappedPrefix.end(), bytes.begin())) return reach_v4(bytes[12], bytes[13]);
  if (std::all_of(bytes.begin(), bytes.end() - 1, [](std::uint8_t b) { return b == 0; })) {
    return bytes[15] == 1 ? Reach::loopback : Reach::never;
  }
  if ((bytes[0] & 0xfe) == 0xfc) return Reach::local_network;  // unique local
  // only 2000::/3 is routed; other addresses are link-local, multicast, translated or unassigned
  return (bytes[0] & 0xe0) == 0x20 ? Reach::global : Reach::never;
}

}  // namespace

Status check_address(std::string_view host, int port, const AddressPolicy& policy) {
  const auto refuse = [&](ErrorCode code, std::string_view why) -> Status {
    return Error{code, fmt::format("dial '{}' port {}: {}", host, port, why)};
  };
  const std::optional<AddressBytes> bytes = parse(host);
  if (!bytes) return refuse(ErrorCode::invalid_argument, "not an IP address");
  if (port < 1 || port > 65535) return refuse(ErrorCode::invalid_argument, "not a port");
  switch (reach_of(*bytes)) {
    case Reach::global:
      return {};
    case Reach::loopback:
      return policy.allow_loopback ? Status() : refuse(ErrorCode::permission_denied, "this machine itself");
    case Reach::local_network:
      return policy.allow_private ? Status() : refuse(ErrorCode::permission_denied, "a private network's address");
    case Reach::never:
      break;
  }
  return refuse(ErrorCode::permission_denied, "an address that is never dialled");
}

AddressPolicy policy_for_coordinator(std::string_view host) {
  AddressPolicy policy;
  const std::optional<AddressBytes> bytes = parse(host);
  const Reach reach = host == "localhost" ? Reach::loopback : bytes ? reach_of(*bytes) : Reach::global;
  policy.allow_loopback = reach == Reach::loopback;
  policy.allow_private = reach == Reach::loopback || reach == Reach::local_network;
  return policy;
}

}  // namespace starling::net
