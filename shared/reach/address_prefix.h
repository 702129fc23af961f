// Fair shares of a port's places among callers that nobody knows yet: a network counts as one caller, since its owner
// has all of its addresses. So one network never takes all places, and never pushes others out.
#pragma once

#include <array>
#include <asio/ip/address.hpp>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace starling::reach {

// A network that usually has one owner: an IPv4 /24, or an IPv6 /56.
struct AddressPrefix {
  std::array<std::uint8_t, 16> bytes{};  // the network's first address; IPv4 is mapped
  friend auto operator<=>(const AddressPrefix&, const AddressPrefix&) = default;
};
AddressPrefix prefix_of(const asio::ip::address& address);
std::string to_string(const AddressPrefix& prefix);  // "192.0.2.0/24"

// The part of `places` that one network may have at most.
constexpr std::size_t places_of_prefix(std::size_t places) { return places < 2 ? places : places / 2; }
// Index of the caller that gives way when all places are taken: the first of the network that has most of them.
// `callers` are not empty.
std::size_t gives_way(std::span<const AddressPrefix> callers);
// Index of the caller that gives way to a new one: the first of its own network when that has its part of the places
// already; otherwise as above, or nobody while there are places.
std::optional<std::size_t> gives_way_to(const AddressPrefix& caller, std::span<const AddressPrefix> callers,
                                        std::size_t places);

}  // namespace starling::reach
