// Volunteers: who is kept out, who is let in, and what they are told.
#pragma once

#include <optional>
#include <string>

#include "coordinator/operations/desk.h"

namespace starling::operations {

// A reason has 1 to 500 letters. `who` is "user:NAME", "host:64 hex digits", "team:NAME" or "address:192.0.2.0/24";
// without an end it is for good.
struct BanWanted {
  std::string who;
  std::string reason;
  std::optional<Duration> lasts;
};
Result<db::Ban> add_ban(const Desk& desk, const BanWanted& wanted);
Status remove_ban(const Desk& desk, std::int64_t id);
// A ban's subject for people: an account's name rather than its number.
std::string shown_subject(const db::Ban& ban, const db::Stores& stores);

// failed_precondition unless the account waits for approval.
Status approve(const Desk& desk, const db::Account& account);

// Whether the computer is kept out, from its next call on.
Status set_revoked(const Desk& desk, const PeerId& computer, bool revoked);

// As its owner could: name, log-in and labels are gone, what it contributed stays.
Status remove_account(const Desk& desk, AccountId account);

// A title of 1 to 120 letters, a body of 4000 at most.
Result<std::int64_t> post_news(const Desk& desk, const std::string& title, const std::string& body);
Status remove_news(const Desk& desk, std::int64_t id);

}  // namespace starling::operations
