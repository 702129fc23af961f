#include "db/stores/sql_logins.h"

namespace starling::db {
namespace {

Result<WebSession> read_session(const Statement& row) {
  WebSession session;
  STARLING_TRY(row.read_id(0, session.token_hash));
  session.account_id = row.integer(1);
  session.created = {row.integer(2)};
  session.expires = {row.integer(3)};
  return session;
}

Result<Ticket> read_ticket(const Statement& row) {
  Ticket ticket;
  STARLING_TRY(row.read_id(0, ticket.token_hash));
  const std::string purpose = row.text(1);
  for (const TicketPurpose each : {TicketPurpose::verify, TicketPurpose::password, TicketPurpose::computer}) {
    if (purpose == name_of(each)) ticket.purpose = each;
  }
  ticket.account_id = row.integer(2);
  ticket.email = row.text(3);
  ticket.expires = {row.integer(4)};
  return ticket;
}

template <typename... Values>
Status change(Connection& connection, std::string_view sql, const Values&... values) {
  STARLING_ASSIGN(Statement statement, connection.prepare(sql));
  return statement.bind(values...).run();
}

Status issue_in(Connection& connection, const Ticket& ticket, WallTime now) {
  STARLING_TRY(change(connection, "DELETE FROM ticket WHERE expires_ms <= ?", now.unix_ms));
  STARLING_TRY(change(connection,
                      "DELETE FROM ticket WHERE token_hash IN (SELECT token_hash FROM ticket WHERE account_id = ? AND "
                      "purpose = ? ORDER BY expires_ms DESC LIMIT ? OFFSET ?)",
                      ticket.account_id, name_of(ticket.purpose), kPageRowsMax, SessionStore::kTicketsMax - 1));
  return change(connection,
                "INSERT INTO ticket (token_hash, purpose, account_id, email, expires_ms) VALUES (?, ?, ?, ?, ?)",
                ticket.token_hash, name_of(ticket.purpose), ticket.account_id, ticket.email, ticket.expires.unix_ms);
}

constexpr const char* kSpent = "this link or code has been used, has expired, or is not one of this project's";

}  // namespace

std::string_view name_of(TicketPurpose purpose) {
  switch (purpose) {
    case TicketPurpose::verify:
      return "verify";
    case TicketPurpose::password:
      return "password";
    case TicketPurpose::computer:
      return "computer";
  }
  return "";
}

Status SqlSessionStore::open(const WebSession& session) {
  return access_.writes.run([&](Connection& connection) -> Status {
    STARLING_TRY(change(connection, "DELETE FROM web_session WHERE expires_ms <= ?", session.created.unix_ms));
    return change(connection,
                  "INSERT INTO web_session (token_hash, account_id, created_ms, expires_ms) VALUES (?, ?, ?, ?)",
                  session.token_hash, session.account_id, session.created.unix_ms, session.expires.unix_ms);
  });
}

Result<WebSession> SqlSessionStore::find(const Digest& token_hash, WallTime now) const {
  return only(select(access_,
                     "SELECT token_hash, account_id, created_ms, expires_ms FROM web_session WHERE token_hash = ? AND "
                     "expires_ms > ?",
                     read_session, token_hash, now.unix_ms),
              "nobody is logged in");
}

Status SqlSessionStore::close(const Digest& token_hash) {
  return access_.writes.run([&](Connection& connection) {
    return change(connection, "DELETE FROM web_session WHERE token_hash = ?", token_hash);
  });
}

Status SqlSessionStore::close_all(AccountId account, const std::optional<Digest>& but) {
  return access_.writes.run([&](Connection& connection) {
    return change(connection, "DELETE FROM web_session WHERE account_id = ? AND token_hash <> ?", account,
                  but.value_or(Digest{}));
  });
}

Status SqlSessionStore::issue(const Ticket& ticket, WallTime now) {
  return access_.writes.run([&](Connection& connection) { return issue_in(connection, ticket, now); });
}

Result<Ticket> SqlSessionStore::look_at(const Digest& token_hash, TicketPurpose purpose, WallTime now) const {
  return only(select(access_,
                     "SELECT token_hash, purpose, account_id, email, expires_ms FROM ticket WHERE token_hash = ? AND "
                     "purpose = ? AND expires_ms > ?",
                     read_ticket, token_hash, name_of(purpose), now.unix_ms),
              kSpent);
}

Result<Ticket> SqlSessionStore::spend(const Digest& token_hash, TicketPurpose purpose, WallTime now) {
  Ticket ticket;
  STARLING_TRY(access_.writes.run([&](Connection& connection) -> Status {
    STARLING_ASSIGN(Statement spend,
                    connection.prepare("DELETE FROM ticket WHERE token_hash = ? AND purpose = ? AND expires_ms > ? "
                                       "RETURNING token_hash, purpose, account_id, email, expires_ms"));
    STARLING_ASSIGN(const bool good, spend.bind(token_hash, name_of(purpose), now.unix_ms).step());
    if (!good) return Error{ErrorCode::not_found, kSpent};
    STARLING_ASSIGN(ticket, read_ticket(spend));
    return spend.run();
  }));
  return ticket;
}

}  // namespace starling::db
