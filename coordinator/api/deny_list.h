// Computers that were taken out of the project or banned while they may still hold a valid certificate: every member
// hears their names, so that it has no links with them. A member judges certificates by their dates alone.
#pragma once

#include <memory>
#include <vector>

#include "coordinator/accounts/ban_list.h"
#include "db/stores/people_stores.h"
#include "shared/base/clock.h"
#include "shared/base/mutex.h"
#include "shared/base/result.h"

namespace starling::api {

class DenyList {
 public:
  // Time in which a certificate of a computer that was seen last before it has expired; a note of a visit may be a
  // minute late.
  static constexpr Duration kCertificatesLast = std::chrono::hours(25);
  static constexpr Duration kFreshFor = std::chrono::minutes(10);

  // All three must outlive the list. Empty until refresh().
  DenyList(db::AccountStore& accounts, const accounts::BanList& bans, const Clock& clock)
      : accounts_(accounts), bans_(bans), clock_(clock) {}

  // Asks the database when somebody was revoked, let in, banned or released since the last call, or after kFreshFor.
  // Call it after BanList::refresh().
  Status refresh();
  // Those seen last first, wire::kRevokedMax at most. Safe from several threads.
  [[nodiscard]] std::vector<PeerId> names() const;

 private:
  Result<std::vector<PeerId>> read(const accounts::BanList::Banned& banned) const;

  db::AccountStore& accounts_;
  const accounts::BanList& bans_;
  const Clock& clock_;
  // The three facts are those of the last refresh(), which one thread calls.
  std::int64_t changes_ = -1;
  accounts::BanList::Banned banned_;
  TimePoint read_at_{};
  mutable Mutex mutex_;
  std::vector<PeerId> names_ GUARDED_BY(mutex_);
};

}  // namespace starling::api
