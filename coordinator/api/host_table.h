// Who belongs to the project, kept in memory: asked at every heartbeat. A revocation is noticed at the next refresh(),
// or within kFreshFor without one; while the database can not be read, what was last known stays true.
#pragma once

#include <unordered_map>

#include "coordinator/core/types.h"
#include "db/stores/stores.h"
#include "shared/base/clock.h"
#include "shared/base/mutex.h"

namespace starling::api {

class HostTable final : public core::KnownHosts {
 public:
  static constexpr Duration kFreshFor = std::chrono::seconds(30);

  // Both must outlive the table.
  HostTable(db::AccountStore& accounts, const Clock& clock) : accounts_(accounts), clock_(clock) {}

  // Looks whether anybody was revoked or let in again since the last call, whoever did it; if so, everybody is asked
  // for anew at their next visit.
  Status refresh();
  // The host's account. unauthenticated: it never joined. permission_denied: it was revoked.
  Result<AccountId> admit(const PeerId& peer) const;
  // Revoked ones too: what they did counts. The database is asked once for each, since accounts never change.
  [[nodiscard]] std::optional<AccountId> account_of(const PeerId& peer) const override;

 private:
  struct Entry {
    AccountId account = 0;
    bool revoked = false;
    TimePoint read_at{};
  };
  Result<Entry> find(const PeerId& peer) const;

  db::AccountStore& accounts_;
  const Clock& clock_;
  mutable Mutex mutex_;
  std::int64_t changes_ GUARDED_BY(mutex_) = -1;  // that the database counted at the last refresh()
  TimePoint changed_ GUARDED_BY(mutex_){};        // entries of before are asked for anew
  mutable std::unordered_map<PeerId, Entry> entries_ GUARDED_BY(mutex_);  // at most one a host of the project
};

}  // namespace starling::api
