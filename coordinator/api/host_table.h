// The hosts of the project, kept in memory because every heartbeat asks for one. A revocation is noticed at the next
// refresh(), or within kFreshFor without one, and so is what an account has earned; while the database cannot be read,
// the last known answer stays true.
#pragma once

#include <optional>
#include <unordered_map>

#include "coordinator/core/types.h"
#include "db/stores/people_stores.h"
#include "shared/base/clock.h"
#include "shared/base/mutex.h"

namespace starling::api {

class HostTable final : public core::KnownHosts {
 public:
  static constexpr Duration kFreshFor = std::chrono::seconds(30);

  // Both must outlive the table.
  HostTable(db::AccountStore& accounts, const Clock& clock) : accounts_(accounts), clock_(clock) {}

  // Looks whether any host was revoked or let in again since the last call, by whatever process; if so, every host is
  // looked up again at its next visit.
  Status refresh();
  // Returns the host's account. unauthenticated: it never joined. permission_denied: it was revoked.
  Result<AccountId> admit(const PeerId& peer) const;
  // Finds revoked hosts too: their work counts. The database is asked once for each, since accounts never change.
  [[nodiscard]] std::optional<AccountId> account_of(const PeerId& peer) const override;
  [[nodiscard]] core::AccountStanding standing_of(AccountId account) const override;
  [[nodiscard]] bool has_signed(const PeerId& peer, std::span<const std::uint8_t> text,
                                const PeerSignature& signature) const override;
  // The account's standing has changed: the next question about it is put to the database.
  void look_again(AccountId account) const;

 private:
  struct Entry {
    AccountId account = 0;
    bool revoked = false;
    TimePoint read_at{};
  };
  Result<Entry> find(const PeerId& peer) const;
  struct Word {
    bool established = false;
    bool auditor = false;
    WallTime watched_until{};
    TimePoint read_at{};
  };
  [[nodiscard]] Word word_of(AccountId account) const;
  [[nodiscard]] bool enough_established() const;

  db::AccountStore& accounts_;
  const Clock& clock_;
  mutable Mutex mutex_;
  std::int64_t changes_ GUARDED_BY(mutex_) = -1;  // number that the database counted at the last refresh()
  TimePoint changed_ GUARDED_BY(mutex_){};        // earlier entries are looked up again
  mutable std::unordered_map<PeerId, Entry> entries_ GUARDED_BY(mutex_);  // at most one for each host of the project
  mutable std::unordered_map<AccountId, Word> accounts_known_ GUARDED_BY(mutex_);
  mutable std::optional<Word> enough_ GUARDED_BY(mutex_);  // whether enough accounts are established
};

}  // namespace starling::api
