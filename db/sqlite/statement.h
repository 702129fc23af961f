// A compiled SQL statement: bind values, step through rows, read columns.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "shared/base/ids.h"
#include "shared/base/result.h"

struct sqlite3_stmt;

namespace starling::db {

class StatementCache;

// Must not outlive its Connection. Parameters count from 1, columns from 0, as in SQLite.
class Statement {
 public:
  Statement(Statement&&) noexcept;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  // Binds all parameters in order; values are copied. What goes wrong is reported by step().
  template <typename... Values>
  Statement& bind(const Values&... values) {
    int index = 0;
    (bind_one(++index, values), ...);
    return *this;
  }

  Result<bool> step();  // true: there is a row
  Status run();         // steps to the end; for statements without rows of interest
  void reset();         // to bind and run again

  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string text(int column) const;  // or blob
  // The blob must have the id's size: corrupt otherwise, and the id is zero.
  template <typename Id>
  Status read_id(int column, Id& id) const {
    return read_blob(column, id.bytes);
  }

 private:
  friend class Connection;
  Statement(StatementCache& cache, std::string key, sqlite3_stmt* raw);
  void bind_one(int index, std::int64_t value);
  void bind_one(int index, int value) { bind_one(index, std::int64_t{value}); }
  void bind_one(int index, double value);
  void bind_one(int index, std::string_view value);
  void bind_one(int index, const char* value) { bind_one(index, std::string_view(value)); }
  void bind_one(int index, const std::string& value) { bind_one(index, std::string_view(value)); }
  void bind_one(int index, bool value) { bind_one(index, std::int64_t{value}); }
  template <typename Tag, std::size_t N>
  void bind_one(int index, const FixedId<Tag, N>& id) {
    bind_blob(index, id.bytes);
  }
  void bind_blob(int index, std::span<const std::uint8_t> bytes);
  void note(int code);
  Status read_blob(int column, std::span<std::uint8_t> out) const;

  StatementCache* cache_;
  std::string key_;  // the SQL
  sqlite3_stmt* raw_;
  int bind_error_ = 0;  // the first one
};

}  // namespace starling::db
