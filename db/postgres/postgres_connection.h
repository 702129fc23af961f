// PostgreSQL behind Connection and Statement, through libpqxx. Used inside db/postgres only.
#pragma once

#include <memory>
#include <optional>
#include <pqxx/pqxx>
#include <string>
#include <vector>

#include "db/postgres/open.h"
#include "db/sql/driver.h"
#include "db/sql/statement_cache.h"

namespace starling::db {

class PostgresConnection;

// A statement prepared on the server under a name of its own. All rows arrive at once, so several statements may be
// stepped in turn.
class PostgresStatement final : public StatementDriver {
 public:
  PostgresStatement(PostgresConnection& owner, std::string sql, std::string name)
      : owner_(owner), sql_(std::move(sql)), name_(std::move(name)) {}
  ~PostgresStatement() override;
  PostgresStatement(const PostgresStatement&) = delete;
  PostgresStatement& operator=(const PostgresStatement&) = delete;

  void bind_integer(int index, std::int64_t value) override;
  void bind_real(int index, double value) override;
  void bind_text(int index, std::string_view value) override;
  void bind_blob(int index, std::span<const std::uint8_t> bytes) override;
  void bind_null(int index) override;
  Result<bool> step() override;
  void reset() override;
  [[nodiscard]] bool is_null(int column) const override;
  [[nodiscard]] std::int64_t integer(int column) const override;
  [[nodiscard]] double real(int column) const override;
  [[nodiscard]] std::string text(int column) const override;
  Status read_blob(int column, std::span<std::uint8_t> out) const override;
  void retire() override;
  [[nodiscard]] std::string_view sql() const { return sql_; }

 private:
  std::optional<std::string>& parameter(int index);
  Status run();
  [[nodiscard]] bool at_row() const;
  [[nodiscard]] std::string_view value(int column) const;  // the server's text; empty: NULL
  [[nodiscard]] bool is_of(int column, pqxx::oid type) const;

  PostgresConnection& owner_;
  const std::string sql_;
  const std::string name_;
  std::vector<std::optional<std::string>> parameters_;  // nullopt: NULL
  std::optional<Error> bind_error_;                     // the first one
  std::optional<pqxx::result> result_;
  int row_ = 0;
};

class PostgresConnection final : public ConnectionDriver {
 public:
  static Result<std::unique_ptr<PostgresConnection>> open(const std::string& url, ServerRole role);
  ~PostgresConnection() override;

  Result<StatementHandle> prepare(std::string_view sql) override;
  Status execute(const std::string& script) override;
  Status begin(TransactionKind kind) override;
  Status commit() override;
  void roll_back() override;
  [[nodiscard]] std::int64_t changes() const override { return changes_; }
  [[nodiscard]] bool in_transaction() const override { return transaction_ != nullptr; }
  [[nodiscard]] bool usable() const override;
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] Dialect dialect() const override { return Dialect::postgres; }

  // For statements: runs the one that was prepared under `name`. A null pointer is NULL.
  Result<pqxx::result> run(const std::string& name, const std::vector<const char*>& values, std::string_view sql);
  void forget(const std::string& name);
  StatementCache<PostgresStatement>& cache() { return cache_; }

 private:
  class Notices;

  PostgresConnection(std::string name, const std::string& options);
  Status set_up(ServerRole role);
  Status check_encoding();
  // Calls libpqxx inside the transaction under way, or outside of any, and turns its exceptions into errors.
  template <typename Act>
  Result<pqxx::result> attempt(std::string_view sql, Act act);

  const std::string name_;
  std::unique_ptr<pqxx::connection> native_;  // null while it is being closed
  std::unique_ptr<Notices> notices_;
  std::unique_ptr<pqxx::transaction_base> transaction_;  // null: none under way
  bool failed_ = false;                                  // a statement of the transaction failed: it can only be undone
  std::int64_t changes_ = 0;
  std::int64_t prepared_ = 0;
  StatementCache<PostgresStatement> cache_;
};

}  // namespace starling::db
