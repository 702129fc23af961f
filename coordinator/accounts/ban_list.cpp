#include "coordinator/accounts/ban_list.h"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <optional>

#include "shared/base/log.h"

namespace starling::accounts {
namespace {

constexpr int kMappedBits = 96;  // the prefix ::ffff:0:0/96, which holds IPv4 addresses

struct Parsed {
  std::array<std::uint8_t, 16> bytes{};
  bool v4 = false;
};

std::optional<Parsed> parse_address(const std::string& text) {
  Parsed parsed;
  if (::inet_pton(AF_INET6, text.c_str(), parsed.bytes.data()) == 1) return parsed;
  parsed.bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  parsed.v4 = true;
  if (::inet_pton(AF_INET, text.c_str(), parsed.bytes.data() + 12) == 1) return parsed;
  return std::nullopt;
}

std::string end_of(const db::Ban& ban) {
  if (ban.expires == db::kNoExpiry) return "";
  const std::time_t seconds = ban.expires.unix_ms / 1000;
  std::tm parts = {};
  ::gmtime_r(&seconds, &parts);
  char text[40];
  return {text, std::strftime(text, sizeof text, " until %Y-%m-%d %H:%M UTC", &parts)};
}

Status refusal(std::string_view what, const db::Ban& ban) {
  return Error{ErrorCode::permission_denied,
               fmt::format("{} is kept out of this project by its operator{}: {}", what, end_of(ban), ban.reason)};
}

}  // namespace

Result<AddressRange> AddressRange::parse(const std::string& text) {
  const Error wrong{
      ErrorCode::invalid_argument,
      fmt::format("'{}' is no range of addresses; write one such as 192.0.2.0/24 or 2001:db8::/32", text)};
  const std::size_t slash = text.find('/');
  const auto address = parse_address(text.substr(0, slash));
  if (!address) return wrong;
  AddressRange range{address->bytes, 128};
  if (slash == std::string::npos) return range;
  const std::string_view bits = std::string_view(text).substr(slash + 1);
  const auto [end, error] = std::from_chars(bits.data(), bits.data() + bits.size(), range.bits);
  const int most = address->v4 ? 32 : 128;
  if (error != std::errc() || end != bits.data() + bits.size() || range.bits < 0 || range.bits > most) return wrong;
  if (address->v4) range.bits += kMappedBits;
  return range;
}

bool AddressRange::holds(const std::array<std::uint8_t, 16>& other) const {
  const auto whole = static_cast<std::size_t>(bits / 8);
  if (!std::equal(address.begin(), address.begin() + bits / 8, other.begin())) return false;
  const int rest = bits % 8;
  return rest == 0 || (address[whole] ^ other[whole]) >> (8 - rest) == 0;
}

Status BanList::refresh() {
  STARLING_ASSIGN(const std::vector<db::Ban> bans, bans_.list());
  auto fresh = std::make_shared<Entries>();
  for (const db::Ban& ban : bans) {
    if (ban.kind == db::BanKind::user) {
      AccountId account = 0;
      std::from_chars(ban.subject.data(), ban.subject.data() + ban.subject.size(), account);
      fresh->users.emplace(account, ban);
    } else if (ban.kind == db::BanKind::host) {
      if (const auto peer = PeerId::from_hex(ban.subject)) fresh->hosts.emplace(*peer, ban);
    } else if (ban.kind == db::BanKind::team) {
      continue;  // the team stores check team bans themselves
    } else if (const auto range = AddressRange::parse(ban.subject)) {
      fresh->ranges.emplace_back(*range, ban);
    }
  }
  MutexLock lock(mutex_);
  entries_ = std::move(fresh);
  return {};
}

Status BanList::admit(AccountId account, const PeerId& peer, const std::string& address) const {
  const auto bans = entries();
  if (bans->users.empty() && bans->hosts.empty() && bans->ranges.empty()) return {};
  const WallTime now = clock_.wall_now();
  const auto user = bans->users.find(account);
  if (user != bans->users.end() && now < user->second.expires) return refusal("this account", user->second);
  const auto host = bans->hosts.find(peer);
  if (host != bans->hosts.end() && now < host->second.expires) return refusal("this computer", host->second);
  if (bans->ranges.empty()) return {};
  const auto from = parse_address(address);
  if (!from) return {};
  for (const auto& [range, ban] : bans->ranges) {
    if (now < ban.expires && range.holds(from->bytes)) return refusal("this address", ban);
  }
  return {};
}

BanList::Banned BanList::in_force() const {
  const auto bans = entries();
  const WallTime now = clock_.wall_now();
  Banned banned;
  for (const auto& [account, ban] : bans->users) {
    if (now < ban.expires) banned.accounts.push_back(account);
  }
  for (const auto& [peer, ban] : bans->hosts) {
    if (now < ban.expires) banned.hosts.push_back(peer);
  }
  std::sort(banned.accounts.begin(), banned.accounts.end());
  std::sort(banned.hosts.begin(), banned.hosts.end());
  return banned;
}

std::size_t BanList::size() const {
  const auto bans = entries();
  return bans->users.size() + bans->hosts.size() + bans->ranges.size();
}

std::shared_ptr<const BanList::Entries> BanList::entries() const {
  MutexLock lock(mutex_);
  return entries_;
}

}  // namespace starling::accounts
