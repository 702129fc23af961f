// The bans, held in memory because every heartbeat asks for them. A ban is in force once refresh() has read it,
// whichever process wrote it.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "db/stores/operator_stores.h"
#include "shared/base/clock.h"
#include "shared/base/mutex.h"
#include "shared/base/result.h"

namespace starling::accounts {

// Addresses with a common prefix; IPv4 addresses are stored as IPv4-mapped IPv6 ones.
struct AddressRange {
  std::array<std::uint8_t, 16> address{};
  int bits = 128;

  // "192.0.2.0/24", "2001:db8::/32", or one address.
  static Result<AddressRange> parse(const std::string& text);
  [[nodiscard]] bool holds(const std::array<std::uint8_t, 16>& other) const;
};

class BanList {
 public:
  // Both must outlive the list. Empty until refresh().
  BanList(db::BanStore& bans, const Clock& clock) : bans_(bans), clock_(clock) {}

  Status refresh();
  // Error permission_denied, with reason and end, if any of the three is banned now. `account` 0 means not known yet.
  [[nodiscard]] Status admit(AccountId account, const PeerId& peer, const std::string& address) const;
  [[nodiscard]] std::size_t size() const;
  // Accounts and computers that are banned now, in rising order. Bans of addresses name nobody.
  struct Banned {
    std::vector<AccountId> accounts;
    std::vector<PeerId> hosts;
    friend bool operator==(const Banned&, const Banned&) = default;
  };
  [[nodiscard]] Banned in_force() const;

 private:
  struct Entries {
    std::unordered_map<AccountId, db::Ban> users;
    std::unordered_map<PeerId, db::Ban> hosts;
    std::vector<std::pair<AddressRange, db::Ban>> ranges;
  };
  [[nodiscard]] std::shared_ptr<const Entries> entries() const;

  db::BanStore& bans_;
  const Clock& clock_;
  mutable Mutex mutex_;
  std::shared_ptr<const Entries> entries_ GUARDED_BY(mutex_) = std::make_shared<Entries>();
};

}  // namespace starling::accounts
