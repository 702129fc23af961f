// SQLite behind Connection and Statement. Used inside db/sqlite only.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "db/sql/driver.h"
#include "db/sql/statement_cache.h"
#include "db/sqlite/open.h"

struct sqlite3;
struct sqlite3_stmt;

namespace starling::db {

class SqliteConnection;

// A compiled statement of its connection, which keeps it for reuse once it is retired. An error of bind_* is reported
// by step().
class SqliteStatement final : public StatementDriver {
 public:
  SqliteStatement(SqliteConnection& owner, std::string sql, sqlite3_stmt* raw)
      : owner_(owner), sql_(std::move(sql)), raw_(raw) {}
  ~SqliteStatement() override;
  SqliteStatement(const SqliteStatement&) = delete;
  SqliteStatement& operator=(const SqliteStatement&) = delete;

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
  void note(int code);

  SqliteConnection& owner_;
  const std::string sql_;
  sqlite3_stmt* raw_;
  int bind_error_ = 0;  // the first one
};

class SqliteConnection final : public ConnectionDriver {
 public:
  static Result<std::unique_ptr<SqliteConnection>> open(const std::filesystem::path& file, const FileOptions& options);

  Result<StatementHandle> prepare(std::string_view sql) override;
  Status execute(const std::string& script) override;
  Status begin(TransactionKind kind) override;
  Status commit() override { return run("COMMIT"); }
  void roll_back() override;
  [[nodiscard]] std::int64_t changes() const override;
  [[nodiscard]] bool in_transaction() const override;
  [[nodiscard]] bool usable() const override { return true; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] Dialect dialect() const override { return Dialect::sqlite; }

  Status checkpoint(bool truncate);
  [[nodiscard]] Error error(int code, std::string_view sql) const;
  StatementCache<SqliteStatement>& cache() { return cache_; }

 private:
  struct CloseHandle {
    void operator()(sqlite3* handle) const;
  };
  SqliteConnection(const std::filesystem::path& file, sqlite3* opened);
  Status run(std::string_view sql);
  Status set_up(const FileOptions& options);
  Status use_wal();

  const std::string name_;
  std::unique_ptr<sqlite3, CloseHandle> handle_;  // closed after the cache has finalized its statements
  int busy_timeout_ms_ = 0;
  StatementCache<SqliteStatement> cache_;
};

}  // namespace starling::db
