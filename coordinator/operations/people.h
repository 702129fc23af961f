// Actions on volunteers: bans, approvals, news.
#pragma once

#include <optional>
#include <string>

#include "coordinator/operations/desk.h"

namespace starling::operations {

// A reason has 1 to 500 letters. `who` is "user:NAME", "host:64 hex digits", "team:NAME" or "address:192.0.2.0/24"; a
// ban without an end is permanent.
struct BanWanted {
  std::string who;
  std::string reason;
  std::optional<Duration> lasts;
};
Result<db::Ban> add_ban(const Desk& desk, const BanWanted& wanted);
Status remove_ban(const Desk& desk, std::int64_t id);
// A ban's subject for people: an account's name rather than its number.
std::string shown_subject(const db::Ban& ban, const db::AccountStore& accounts);

// Error failed_precondition unless the account waits for approval.
Status approve(const Desk& desk, const db::Account& account);

// The operator answers for the account, or does no longer.
Status set_vouched(const Desk& desk, const db::Account& account, bool vouched);
// The account's computers are the operator's own, and decide checks of others' work, or do so no longer.
Status set_auditor(const Desk& desk, const db::Account& account, bool auditor);
// The account's work is always checked for as long. Returns until when.
Result<WallTime> watch(const Desk& desk, const db::Account& account, Duration lasts);
// The most computers that the account may have; nothing: the project's usual number.
Status set_hosts_max(const Desk& desk, const db::Account& account, std::optional<std::int64_t> most);

// Keeps the computer out from its next call on, or lets it in again.
Status set_revoked(const Desk& desk, const PeerId& computer, bool revoked);

// Works as if its owner had done it: name, log-in and labels are removed, its contributions stay.
Status remove_account(const Desk& desk, AccountId account);

// A title of 1 to 120 letters, a body of at most 4000.
Result<std::int64_t> post_news(const Desk& desk, const std::string& title, const std::string& body);
Status remove_news(const Desk& desk, std::int64_t id);

}  // namespace starling::operations
