#include "coordinator/api/deny_list.h"

#include <algorithm>
#include <utility>

#include "shared/crypto/certificates.h"
#include "shared/protocol/heartbeat_reply.h"

namespace starling::api {

static_assert(DenyList::kCertificatesLast > crypto::kCertificateLifetime);

Status DenyList::refresh() {
  STARLING_ASSIGN(const std::int64_t changes, accounts_.revocations());
  accounts::BanList::Banned banned = bans_.in_force();
  const TimePoint now = clock_.now();
  if (changes == changes_ && banned == banned_ && now - read_at_ < kFreshFor) return {};
  STARLING_ASSIGN(std::vector<PeerId> names, read(banned));
  changes_ = changes;
  banned_ = std::move(banned);
  read_at_ = now;
  MutexLock lock(mutex_);
  names_ = std::move(names);
  return {};
}

Result<std::vector<PeerId>> DenyList::read(const accounts::BanList::Banned& banned) const {
  const WallTime since{clock_.wall_now().unix_ms - to_ms(kCertificatesLast)};
  STARLING_ASSIGN(std::vector<db::Host> hosts, accounts_.revoked_since(since, wire::kRevokedMax));
  const auto add = [&](const db::Host& host) {
    if (host.last_seen.unix_ms >= since.unix_ms) hosts.push_back(host);
  };
  for (const AccountId account : banned.accounts) {
    STARLING_ASSIGN(const std::vector<db::Host> own, accounts_.hosts_of(account));
    std::for_each(own.begin(), own.end(), add);
  }
  for (const PeerId& peer : banned.hosts) {
    if (const auto host = accounts_.find_host(peer)) add(*host);
  }
  std::sort(hosts.begin(), hosts.end(), [](const db::Host& a, const db::Host& b) {
    return std::pair(b.last_seen.unix_ms, a.peer_id) < std::pair(a.last_seen.unix_ms, b.peer_id);
  });
  std::vector<PeerId> names;
  for (const db::Host& host : hosts) {
    if (names.size() >= wire::kRevokedMax) break;
    if (names.empty() || names.back() != host.peer_id) names.push_back(host.peer_id);
  }
  return names;
}

std::vector<PeerId> DenyList::names() const {
  MutexLock lock(mutex_);
  return names_;
}

}  // namespace starling::api
