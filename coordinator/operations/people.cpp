#include "coordinator/operations/people.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

#include "coordinator/accounts/ban_list.h"
#include "shared/base/plain_text.h"

namespace starling::operations {
namespace {

// Limits of the database.
constexpr std::ptrdiff_t kReasonLettersMax = 500;
constexpr std::ptrdiff_t kTitleLettersMax = 120;
constexpr std::ptrdiff_t kBodyLettersMax = 4000;

Status check_letters(std::string_view what, std::string_view text, std::ptrdiff_t min, std::ptrdiff_t max) {
  const std::ptrdiff_t letters =
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
  if (letters >= min && letters <= max) return {};
  return Error{ErrorCode::invalid_argument, letters < min
                                                ? fmt::format("{} is missing", what)
                                                : fmt::format("{} has {} letters; {} is the most", what, letters, max)};
}

// The subject of "user:Ada", "host:<64 hex digits>", "address:192.0.2.0/24" or "team:Swans" as the database names it.
Result<db::Ban> subject_of(const std::string& who, const db::PeopleStores& people) {
  const std::size_t colon = who.find(':');
  const std::string kind = who.substr(0, colon);
  const std::string subject = colon == std::string::npos ? "" : who.substr(colon + 1);
  db::Ban ban;
  if (kind == "user") {
    STARLING_ASSIGN(const db::Account account, people.accounts.find_account_named(subject));
    ban.kind = db::BanKind::user;
    ban.subject = std::to_string(account.id);
    return ban;
  }
  if (kind == "host") {
    const auto peer = PeerId::from_hex(subject);
    if (!peer) return Error{ErrorCode::invalid_argument, fmt::format("'{}' is no computer: 64 hex digits", subject)};
    ban.kind = db::BanKind::host;
    ban.subject = peer->hex();
    return ban;
  }
  if (kind == "address") {
    STARLING_TRY(accounts::AddressRange::parse(subject).status());
    ban.kind = db::BanKind::address;
    ban.subject = subject;
    return ban;
  }
  if (kind == "team") {
    STARLING_ASSIGN(const db::Team team, people.teams.find_named(subject));
    ban.kind = db::BanKind::team;
    ban.subject = std::to_string(team.id);
    return ban;
  }
  return Error{ErrorCode::invalid_argument,
               fmt::format("'{}' names nobody; write user:NAME, host:HEX, team:NAME or address:192.0.2.0/24", who)};
}

}  // namespace

std::string shown_subject(const db::Ban& ban, const db::AccountStore& accounts) {
  if (ban.kind != db::BanKind::user) return ban.subject;
  const auto account = accounts.find_account(std::strtoll(ban.subject.c_str(), nullptr, 10));
  return account ? account->display_name : ban.subject;
}

Result<db::Ban> add_ban(const Desk& desk, const BanWanted& wanted) {
  const std::string reason = plain_line(wanted.reason);
  STARLING_TRY(check_letters("the reason", reason, 1, kReasonLettersMax));
  STARLING_ASSIGN(db::Ban ban, subject_of(wanted.who, desk.stores.people));
  ban.reason = reason;
  ban.created = desk.clock.wall_now();
  ban.expires = db::kNoExpiry;
  if (wanted.lasts) ban.expires = {ban.created.unix_ms + to_ms(*wanted.lasts)};
  STARLING_ASSIGN(ban.id, desk.stores.operation.bans.add(ban));
  STARLING_TRY(note(desk, "ban add", wanted.who, reason));
  return ban;
}

Status remove_ban(const Desk& desk, std::int64_t id) {
  STARLING_TRY(desk.stores.operation.bans.remove(id));
  return note(desk, "ban remove", fmt::format("ban {}", id));
}

Status approve(const Desk& desk, const db::Account& account) {
  if (account.state != db::AccountState::waiting) {
    return Error{ErrorCode::failed_precondition, fmt::format("'{}' does not wait for approval", account.display_name)};
  }
  STARLING_TRY(desk.stores.people.keeper.set_state(account.id, db::AccountState::active));
  return note(desk, "users approve", account.display_name);
}

Status set_vouched(const Desk& desk, const db::Account& account, bool vouched) {
  STARLING_TRY(desk.stores.people.keeper.set_vouched(account.id, vouched));
  return note(desk, vouched ? "users vouch" : "users vouch --withdraw", account.display_name);
}

Status set_auditor(const Desk& desk, const db::Account& account, bool auditor) {
  STARLING_TRY(desk.stores.people.keeper.set_auditor(account.id, auditor));
  return note(desk, auditor ? "users auditor" : "users auditor --withdraw", account.display_name);
}

Result<WallTime> watch(const Desk& desk, const db::Account& account, Duration lasts) {
  const WallTime until{desk.clock.wall_now().unix_ms + to_ms(lasts)};
  STARLING_TRY(desk.stores.people.keeper.watch(account.id, until));
  STARLING_TRY(
      note(desk, "audit repeat", account.display_name, fmt::format("for {:g} hours", to_seconds(lasts) / 3600)));
  return until;
}

Status set_hosts_max(const Desk& desk, const db::Account& account, std::optional<std::int64_t> most) {
  STARLING_TRY(desk.stores.people.keeper.set_hosts_max(account.id, most));
  return note(desk, "users computers", account.display_name, most ? std::to_string(*most) : "the usual number");
}

Status set_revoked(const Desk& desk, const PeerId& computer, bool revoked) {
  STARLING_TRY(desk.stores.people.accounts.set_revoked(computer, revoked, db::Revoker::project));
  return note(desk, revoked ? "hosts revoke" : "hosts admit", computer.hex());
}

Status remove_account(const Desk& desk, AccountId account) {
  STARLING_TRY(desk.stores.people.keeper.erase(account, desk.clock.wall_now()));
  return note(desk, "users delete", fmt::format("account {}", account));
}

Result<std::int64_t> post_news(const Desk& desk, const std::string& typed_title, const std::string& typed_body) {
  const std::string title = plain_line(typed_title);
  const std::string body = plain_lines(typed_body);
  STARLING_TRY(check_letters("the title", title, 1, kTitleLettersMax));
  STARLING_TRY(check_letters("the body", body, 0, kBodyLettersMax));
  STARLING_ASSIGN(const std::int64_t id, desk.stores.operation.news.add({0, desk.clock.wall_now(), title, body}));
  STARLING_TRY(note(desk, "news post", fmt::format("news {}", id), title));
  return id;
}

Status remove_news(const Desk& desk, std::int64_t id) {
  STARLING_TRY(desk.stores.operation.news.remove(id));
  return note(desk, "news remove", fmt::format("news {}", id));
}

}  // namespace starling::operations
