// Compiled statements that are not in use, by their SQL. Inside db/sqlite only.
#pragma once

#include <filesystem>
#include <string>
#include <unordered_map>

struct sqlite3;
struct sqlite3_stmt;

namespace starling::db {

class StatementCache {
 public:
  static constexpr std::size_t kStatementsMax = 64;

  StatementCache(sqlite3* connection, std::filesystem::path file) : connection_(connection), file_(std::move(file)) {}
  ~StatementCache();
  StatementCache(const StatementCache&) = delete;
  StatementCache& operator=(const StatementCache&) = delete;

  sqlite3_stmt* take(const std::string& sql);  // null: none there
  void give_back(std::string sql, sqlite3_stmt* statement);

  [[nodiscard]] sqlite3* connection() const { return connection_; }
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

 private:
  sqlite3* connection_;
  std::filesystem::path file_;
  std::unordered_map<std::string, sqlite3_stmt*> idle_;
};

}  // namespace starling::db
