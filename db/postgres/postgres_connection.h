// PostgreSQL behind Connection and Statement, by libpq. Inside db/postgres only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "db/postgres/open.h"
#include "db/sql/driver.h"
#include "db/sql/statement_cache.h"

struct pg_conn;
struct pg_result;

namespace starling::db {

struct ClearResult {
  void operator()(pg_result* result) const;
};
using ResultHandle = std::unique_ptr<pg_result, ClearResult>;

class PostgresConnection;

// Prepared on the server under a name of its own. All rows come at once, so statements may be stepped side by side.
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
  [[nodiscard]] std::string_view value(int column) const;  // as the server wrote it; empty: NULL

  PostgresConnection& owner_;
  const std::string sql_;
  const std::string name_;
  std::vector<std::optional<std::string>> parameters_;  // nothing: NULL
  std::optional<Error> bind_error_;                     // the first one
  ResultHandle result_;
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
  [[nodiscard]] bool in_transaction() const override;
  [[nodiscard]] bool usable() const override;
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] Dialect dialect() const override { return Dialect::postgres; }

  // For statements. Null after the connection was closed.
  pg_conn* native() { return native_; }
  // What came of a command: an error unless it went well.
  Status judge(const ResultHandle& result, std::string_view sql);
  StatementCache<PostgresStatement>& cache() { return cache_; }

 private:
  PostgresConnection(std::string name, pg_conn* native);
  Status set_up(ServerRole role);

  const std::string name_;
  pg_conn* native_;
  std::int64_t changes_ = 0;
  std::int64_t prepared_ = 0;
  StatementCache<PostgresStatement> cache_;
};

}  // namespace starling::db
