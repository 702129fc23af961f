#include <utility>

#include "db/stores/rollback_rows.h"
#include "db/stores/sql_stores.h"
#include "db/stores/state_chain_rows.h"

namespace starling::db {
namespace {

Result<StateStatement> read_statement(const Statement& row) {
  return StateStatement{row.integer(0), row.integer(1), row.text(2)};
}

Result<std::string> read_link(const Statement& row) { return row.text(0); }

}  // namespace

Status insert_link(Connection& connection, const RunId& run_id, RoundIndex round, const std::string& link) {
  STARLING_ASSIGN(
      Statement insert,
      connection.prepare("INSERT INTO state_link (run_id, round, link) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"));
  return insert.bind(run_id, round, link).run();
}

Status put_statement(Connection& connection, const RunId& run_id, const StateStatement& statement) {
  STARLING_ASSIGN(
      Statement put,
      connection.prepare("INSERT INTO state_statement (run_id, round, serial, statement) VALUES (?, ?, ?, ?) "
                         "ON CONFLICT (run_id) DO UPDATE SET round = excluded.round, serial = "
                         "excluded.serial, statement = excluded.statement"));
  STARLING_TRY(put.bind(run_id, statement.round, statement.serial, statement.text).run());
  STARLING_ASSIGN(Statement links, connection.prepare("DELETE FROM state_link WHERE run_id = ? AND round < ?"));
  return links.bind(run_id, statement.round).run();
}

Status SqlStateChainStore::state(const RunId& run_id, const StateStatement& statement, std::int64_t rollbacks) {
  return access_.writes.run(
      [&](Connection& connection) -> Status {
        STARLING_TRY(expect_rollbacks(connection, run_id, rollbacks));
        return put_statement(connection, run_id, statement);
      },
      WriteQueue::By::leader);
}

Result<StateChain> SqlStateChainStore::read(const RunId& run_id) const {
  StateChain chain;
  STARLING_ASSIGN(
      auto statements,
      select(access_, "SELECT round, serial, statement FROM state_statement WHERE run_id = ?", read_statement, run_id));
  if (!statements.empty()) chain.statement = std::move(statements.front());
  STARLING_ASSIGN(chain.links,
                  select(access_, "SELECT link FROM state_link WHERE run_id = ? ORDER BY round", read_link, run_id));
  return chain;
}

}  // namespace starling::db
