#include <fmt/core.h>

#include <optional>

#include "db/stores/account_rows.h"
#include "db/stores/name_rows.h"
#include "db/stores/sql_stores.h"

namespace starling::db {
namespace {

constexpr std::int64_t kTouchEveryMs = 60'000;

constexpr std::string_view kHostColumns =
    "SELECT peer_id, account_id, created_ms, last_seen_ms, revoked, label, token_hash, revoked_by_project FROM host ";

Result<Host> read_host(const Statement& row) {
  Host host;
  STARLING_TRY(row.read_id(0, host.peer_id));
  host.account_id = row.integer(1);
  host.created = {row.integer(2)};
  host.last_seen = {row.integer(3)};
  host.revoked = row.integer(4) != 0;
  host.label = row.text(5);
  if (!row.is_null(6)) STARLING_TRY(row.read_id(6, host.token_hash.emplace()));
  host.revoked_by = row.integer(7) != 0 ? Revoker::project : Revoker::owner;
  return host;
}

Result<std::int64_t> read_count(const Statement& row) { return row.integer(0); }

// The host, if it joined before.
Result<std::optional<Host>> known_host(Connection& connection, const PeerId& peer) {
  static const std::string sql = std::string(kHostColumns) + "WHERE peer_id = ?";
  STARLING_ASSIGN(Statement find, connection.prepare(sql));
  STARLING_ASSIGN(const bool known, find.bind(peer).step());
  if (!known) return std::optional<Host>();
  STARLING_ASSIGN(Host host, read_host(find));
  return std::optional<Host>(std::move(host));
}

// The account of a host that joined before. One that had no device token then gets the one that it shows now.
Result<AccountId> join_again(Connection& connection, const Host& host, const JoinRequest& request) {
  if (host.revoked) {
    return Error{ErrorCode::permission_denied,
                 "this computer has been removed from the project, by its owner or by the project"};
  }
  STARLING_TRY(check_device_token(host.token_hash, request.token_hash));
  if (!host.token_hash && request.token_hash) {
    STARLING_ASSIGN(Statement keep, connection.prepare("UPDATE host SET token_hash = ? WHERE peer_id = ?"));
    STARLING_TRY(keep.bind(*request.token_hash, host.peer_id).run());
  }
  return host.account_id;
}

// The account that the code links a computer to, if the code is of that kind and still good. It works once.
Result<std::optional<AccountId>> spend_code(Connection& connection, const Digest& code, WallTime now) {
  STARLING_ASSIGN(Statement spend,
                  connection.prepare("DELETE FROM ticket WHERE token_hash = ? AND purpose = 'computer' "
                                     "AND expires_ms > ? RETURNING account_id"));
  STARLING_ASSIGN(const bool good, spend.bind(code, now.unix_ms).step());
  return good ? std::optional<AccountId>(spend.integer(0)) : std::nullopt;
}

// The one account of everybody who gives no name.
Result<AccountId> anonymous_account(Connection& connection, WallTime now) {
  STARLING_ASSIGN(Statement find, connection.prepare("SELECT id FROM account WHERE state = 'anonymous'"));
  STARLING_ASSIGN(const bool there, find.step());
  if (there) return find.integer(0);
  return insert_account(connection, {std::string(kAnonymousName), AccountState::anonymous, now});
}

Result<AccountId> account_for(Connection& connection, const JoinRequest& request) {
  if (request.account_id != 0) return request.account_id;
  if (request.invite) {
    STARLING_ASSIGN(const auto linked, spend_code(connection, *request.invite, request.now));
    if (linked) return *linked;
    STARLING_TRY(spend_invite(connection, *request.invite, request.now));
  }
  if (request.state == AccountState::anonymous) return anonymous_account(connection, request.now);
  return insert_account(connection, {request.display_name, request.state, request.now});
}

// Everybody without a name is one account, with one say together: it may have any number of computers.
Status check_room(Connection& connection, AccountId account, std::int64_t usual_max) {
  STARLING_ASSIGN(Statement limit, connection.prepare("SELECT coalesce(hosts_max, ?) FROM account WHERE id = ? AND "
                                                      "state <> 'anonymous'"));
  STARLING_ASSIGN(const bool limited, limit.bind(usual_max, account).step());
  const std::int64_t most = limited ? limit.integer(0) : 0;
  if (most == 0) return {};
  STARLING_ASSIGN(Statement count, connection.prepare("SELECT count(*) FROM host WHERE account_id = ? AND "
                                                      "(revoked = 0 OR revoked_by_project = 1)"));
  STARLING_TRY(count.bind(account).step().status());
  if (count.integer(0) < most) return {};
  return Error{ErrorCode::permission_denied,
               fmt::format("this account has {} computers, and {} are the most here: take out one that is not used on "
                           "the account's page, or ask the project for more",
                           count.integer(0), most)};
}

Result<AccountId> join_in(Connection& connection, const JoinRequest& request) {
  STARLING_ASSIGN(const std::optional<Host> known, known_host(connection, request.peer_id));
  if (known) return join_again(connection, *known, request);
  STARLING_ASSIGN(const AccountId account, account_for(connection, request));
  STARLING_TRY(check_room(connection, account, request.hosts_max));
  STARLING_ASSIGN(
      Statement host,
      connection.prepare(
          "INSERT INTO host (peer_id, account_id, created_ms, last_seen_ms, token_hash) VALUES (?, ?, ?, ?, ?)"));
  host.bind(request.peer_id, account, request.now.unix_ms, request.now.unix_ms);
  if (request.token_hash) {
    host.bind_at(5, *request.token_hash);
  } else {
    host.bind_null_at(5);
  }
  STARLING_TRY(host.run());
  return account;
}

}  // namespace

Status check_device_token(const std::optional<Digest>& kept, const std::optional<Digest>& shown) {
  if (!kept || kept == shown) return {};
  return Error{ErrorCode::permission_denied,
               "this computer's key is known here together with another device token, so it may be a copied one: move "
               "host.key and host.secret out of its data folder, and join again as a new computer"};
}

Status count_revocation(Connection& connection) {
  STARLING_ASSIGN(Statement count,
                  connection.prepare("INSERT INTO setting (name, value) VALUES ('revocations', '1') ON CONFLICT (name) "
                                     "DO UPDATE SET value = CAST(setting.value AS INTEGER) + 1"));
  return count.run();
}

Result<AccountId> SqlAccountStore::join(const JoinRequest& request) {
  AccountId account = 0;
  STARLING_TRY(access_.writes.run([&](Connection& connection) -> Status {
    STARLING_ASSIGN(account, join_in(connection, request));
    return {};
  }));
  return account;
}

Result<Account> SqlAccountStore::find_account(AccountId id) const {
  static const std::string sql = std::string(kAccountColumns) + "WHERE id = ?";
  return only(select(access_, sql, read_account, id), fmt::format("there is no account {}", id));
}

Result<Account> SqlAccountStore::find_account_named(const std::string& display_name) const {
  static const std::string sql =
      fmt::format("{}WHERE id = {}", kAccountColumns, key_of_name(kAccountNames, "?1", "?2"));
  return only(select(access_, sql, read_account, display_name, keys_of_name(display_name).fold),
              fmt::format("there is no volunteer '{}'", display_name));
}

Result<Host> SqlAccountStore::find_host(const PeerId& peer) const {
  static const std::string sql = std::string(kHostColumns) + "WHERE peer_id = ?";
  return only(select(access_, sql, read_host, peer), fmt::format("computer {} has not joined", peer.brief()));
}

Result<std::vector<Host>> SqlAccountStore::hosts_of(AccountId id) const {
  static const std::string sql = std::string(kHostColumns) + "WHERE account_id = ? ORDER BY created_ms LIMIT ?";
  return select(access_, sql, read_host, id, kPageRowsMax);
}

Status SqlAccountStore::touch_host(const PeerId& peer, WallTime now) {
  {
    MutexLock lock(mutex_);
    WallTime& last = touched_[peer];
    if (now.unix_ms - last.unix_ms < kTouchEveryMs) return {};
    last = now;
    if (now.unix_ms - forgotten_.unix_ms >= kTouchEveryMs) {
      forgotten_ = now;
      std::erase_if(touched_, [now](const auto& entry) { return now.unix_ms - entry.second.unix_ms >= kTouchEveryMs; });
    }
  }
  const auto touch = [peer, now](Connection& connection) -> Status {
    STARLING_ASSIGN(Statement update, connection.prepare("UPDATE host SET last_seen_ms = ? WHERE peer_id = ?"));
    return update.bind(now.unix_ms, peer).run();
  };
  return access_.writes.submit(touch, [](const Status&) {});
}

Status SqlAccountStore::set_revoked(const PeerId& peer, bool revoked, Revoker by, std::int64_t hosts_max) {
  return access_.writes.run([&](Connection& connection) -> Status {
    STARLING_ASSIGN(const std::optional<Host> host, known_host(connection, peer));
    if (!host) return Error{ErrorCode::not_found, fmt::format("computer {} has not joined", peer.brief())};
    const bool is_projects = host->revoked && host->revoked_by == Revoker::project;
    if (is_projects && by == Revoker::owner) {
      if (revoked) return {};
      return Error{ErrorCode::permission_denied,
                   "the project took this computer out; only the project lets it in again"};
    }
    const bool comes_back = host->revoked && !revoked && by == Revoker::owner;
    if (comes_back) STARLING_TRY(check_room(connection, host->account_id, hosts_max));
    STARLING_ASSIGN(Statement update,
                    connection.prepare("UPDATE host SET revoked = ?, revoked_by_project = ? WHERE peer_id = ?"));
    STARLING_TRY(update.bind(revoked, revoked && by == Revoker::project, peer).run());
    return count_revocation(connection);
  });
}

Result<std::int64_t> SqlAccountStore::revocations() const {
  STARLING_ASSIGN(ReaderPool::Lease reader, access_.readers.acquire());
  return reader->query_int(
      "SELECT coalesce((SELECT CAST(value AS INTEGER) FROM setting WHERE name = 'revocations'), 0)");
}

Status SqlAccountStore::restart_probation(AccountId id) {
  return access_.writes.run([id](Connection& connection) -> Status {
    STARLING_ASSIGN(Statement update, connection.prepare("UPDATE account SET confirmed = 0 WHERE id = ?"));
    return update.bind(id).run();
  });
}

Result<std::vector<Host>> SqlAccountStore::revoked_since(WallTime since, std::size_t most) const {
  return select(
      access_, std::string(kHostColumns) + "WHERE revoked = 1 AND last_seen_ms >= ? ORDER BY last_seen_ms DESC LIMIT ?",
      read_host, since.unix_ms, static_cast<std::int64_t>(most));
}

Result<std::int64_t> SqlAccountStore::established(std::int64_t enough) const {
  STARLING_ASSIGN(const auto counts,
                  select(access_,
                         "SELECT count(*) FROM (SELECT 1 FROM account WHERE (confirmed = 10 OR vouched = 1) "
                         "AND state <> 'deleted' LIMIT ?) AS few",
                         read_count, enough));
  return counts.front();
}

}  // namespace starling::db
