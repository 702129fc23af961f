#include "shared/reach/address_prefix.h"

#include <algorithm>
#include <map>

#include "shared/base/verify.h"

namespace starling::reach {
namespace {

constexpr std::size_t kMappedBytes = 12;  // before the bytes of an IPv4 address
constexpr std::size_t kPrefixBytesV4 = kMappedBytes + 3;
constexpr std::size_t kPrefixBytesV6 = 7;

bool is_v4(const AddressPrefix& prefix) { return asio::ip::make_address_v6(prefix.bytes).is_v4_mapped(); }

}  // namespace

AddressPrefix prefix_of(const asio::ip::address& address) {
  AddressPrefix prefix;
  const auto mapped =
      address.is_v4() ? asio::ip::make_address_v6(asio::ip::v4_mapped, address.to_v4()) : address.to_v6();
  prefix.bytes = mapped.to_bytes();
  const std::size_t kept = mapped.is_v4_mapped() ? kPrefixBytesV4 : kPrefixBytesV6;
  std::fill(prefix.bytes.begin() + static_cast<std::ptrdiff_t>(kept), prefix.bytes.end(), std::uint8_t{0});
  return prefix;
}

std::string to_string(const AddressPrefix& prefix) {
  const auto address = asio::ip::make_address_v6(prefix.bytes);
  if (is_v4(prefix)) return asio::ip::make_address_v4(asio::ip::v4_mapped, address).to_string() + "/24";
  return address.to_string() + "/56";
}

std::size_t gives_way(std::span<const AddressPrefix> callers) {
  VERIFY(!callers.empty());
  std::map<AddressPrefix, std::size_t> crowds;
  for (const AddressPrefix& caller : callers) ++crowds[caller];
  std::size_t chosen = 0;
  for (std::size_t i = 1; i < callers.size(); ++i) {
    if (crowds[callers[i]] > crowds[callers[chosen]]) chosen = i;
  }
  return chosen;
}

std::optional<std::size_t> gives_way_to(const AddressPrefix& caller, std::span<const AddressPrefix> callers,
                                        std::size_t places) {
  const auto own = static_cast<std::size_t>(std::count(callers.begin(), callers.end(), caller));
  if (own > 0 && own >= places_of_prefix(places)) {
    return static_cast<std::size_t>(std::find(callers.begin(), callers.end(), caller) - callers.begin());
  }
  return callers.size() < places ? std::nullopt : std::optional(gives_way(callers));
}

}  // namespace starling::reach
