#include "db/stores/account_rows.h"

namespace starling::db {
namespace {

Result<Invite> read_invite(const Statement& row) {
  Invite invite;
  STARLING_TRY(row.read_id(0, invite.token_hash));
  invite.created = {row.integer(1)};
  invite.expires = {row.integer(2)};
  invite.uses_max = row.integer(3);
  invite.uses = row.integer(4);
  return invite;
}

}  // namespace

Status spend_invite(Connection& connection, const Digest& token_hash, WallTime now) {
  STARLING_ASSIGN(Statement find,
                  connection.prepare("SELECT expires_ms, uses_max, uses FROM invite WHERE token_hash = ?"));
  STARLING_ASSIGN(const bool known, find.bind(token_hash).step());
  if (!known) {
    return Error{ErrorCode::unauthenticated,
                 "this invite is not one of this project's; ask the project for a new join link"};
  }
  if (find.integer(0) <= now.unix_ms) {
    return Error{ErrorCode::permission_denied, "this invite has expired; ask the project for a new join link"};
  }
  if (find.integer(2) >= find.integer(1)) {
    return Error{ErrorCode::permission_denied, "this invite has been used up; ask the project for a new join link"};
  }
  STARLING_ASSIGN(Statement spend, connection.prepare("UPDATE invite SET uses = uses + 1 WHERE token_hash = ?"));
  return spend.bind(token_hash).run();
}

Status SqlInviteStore::add(const Invite& invite) {
  return access_.writes.run([&](Connection& connection) -> Status {
    STARLING_ASSIGN(Statement insert,
                    connection.prepare("INSERT INTO invite (token_hash, created_ms, expires_ms, uses_max, uses) "
                                       "VALUES (?, ?, ?, ?, ?)"));
    return insert.bind(invite.token_hash, invite.created.unix_ms, invite.expires.unix_ms, invite.uses_max, invite.uses)
        .run();
  });
}

Result<Invite> SqlInviteStore::find(const Digest& token_hash) const {
  return only(
      select(access_, "SELECT token_hash, created_ms, expires_ms, uses_max, uses FROM invite WHERE token_hash = ?",
             read_invite, token_hash),
      "there is no such invite");
}

Result<std::vector<Invite>> SqlInviteStore::list(const Page& page) const {
  return select(access_,
                "SELECT token_hash, created_ms, expires_ms, uses_max, uses FROM invite "
                "ORDER BY created_ms DESC, token_hash LIMIT ? OFFSET ?",
                read_invite, limit_of(page), offset_of(page));
}

Status SqlInviteStore::withdraw(const Digest& token_hash, WallTime now) {
  return update_one(access_,
                    "UPDATE invite SET expires_ms = CASE WHEN expires_ms < ?1 THEN expires_ms ELSE ?1 END WHERE "
                    "token_hash = ?2",
                    "there is no such invite", now.unix_ms, token_hash);
}

}  // namespace starling::db
