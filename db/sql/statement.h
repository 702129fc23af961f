// A compiled SQL statement: binds values, steps through rows, reads columns.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "db/sql/driver.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"

namespace starling::db {

// Must not outlive its Connection. Parameters count from 1, columns from 0.
class Statement {
 public:
  explicit Statement(StatementHandle driver) : driver_(std::move(driver)) {}

  // Binds all parameters in order; values are copied. step() reports errors of binding.
  template <typename... Values>
  Statement& bind(const Values&... values) {
    int index = 0;
    (bind_one(++index, values), ...);
    return *this;
  }

  // Binds one parameter.
  template <typename Value>
  void bind_at(int index, const Value& value) {
    bind_one(index, value);
  }
  void bind_null_at(int index) { driver_->bind_null(index); }

  Result<bool> step() { return driver_->step(); }  // true: there is a row
  Status run();                                    // steps to the end; for statements without rows of interest
  void reset() { driver_->reset(); }               // before binding and running again

  [[nodiscard]] bool is_null(int column) const { return driver_->is_null(column); }
  [[nodiscard]] std::int64_t integer(int column) const { return driver_->integer(column); }
  [[nodiscard]] double real(int column) const { return driver_->real(column); }
  [[nodiscard]] std::string text(int column) const { return driver_->text(column); }  // also reads a blob
  // The blob must have the id's size; otherwise the error is corrupt and the id zero.
  template <typename Id>
  Status read_id(int column, Id& id) const {
    return driver_->read_blob(column, id.bytes);
  }

 private:
  void bind_one(int index, std::int64_t value) { driver_->bind_integer(index, value); }
  void bind_one(int index, int value) { driver_->bind_integer(index, value); }
  void bind_one(int index, double value) { driver_->bind_real(index, value); }
  void bind_one(int index, std::string_view value) { driver_->bind_text(index, value); }
  void bind_one(int index, const char* value) { driver_->bind_text(index, value); }
  void bind_one(int index, const std::string& value) { driver_->bind_text(index, value); }
  void bind_one(int index, bool value) { driver_->bind_integer(index, value ? 1 : 0); }
  void bind_one(int index, std::span<const std::uint8_t> bytes) { driver_->bind_blob(index, bytes); }
  template <typename Tag, std::size_t N>
  void bind_one(int index, const FixedId<Tag, N>& id) {
    driver_->bind_blob(index, id.bytes);
  }

  StatementHandle driver_;
};

}  // namespace starling::db
