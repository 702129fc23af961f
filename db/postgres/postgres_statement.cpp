#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "db/postgres/postgres_connection.h"
#include "db/sql/failure_text.h"

namespace starling::db {
namespace {

constexpr pqxx::oid kBool = 16;
constexpr pqxx::oid kBytea = 17;
constexpr std::string_view kHexMark = "\\x";

int digit_of(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

std::string to_hex(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex(kHexMark);
  for (const std::uint8_t byte : bytes) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

// Decodes the server's notation: "\x6162".
std::string from_hex(std::string_view hex) {
  std::string bytes;
  if (!hex.starts_with(kHexMark)) return bytes;
  for (std::size_t i = kHexMark.size(); i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(digit_of(hex[i]) << 4 | digit_of(hex[i + 1]));
  }
  return bytes;
}

}  // namespace

PostgresStatement::~PostgresStatement() { owner_.forget(name_); }

void PostgresStatement::retire() {
  result_.reset();
  parameters_.clear();
  bind_error_.reset();
  owner_.cache().give_back(std::unique_ptr<PostgresStatement>(this));
}

std::optional<std::string>& PostgresStatement::parameter(int index) {
  const auto at = static_cast<std::size_t>(index) - 1;
  if (parameters_.size() <= at) parameters_.resize(at + 1);
  return parameters_[at];
}

void PostgresStatement::bind_integer(int index, std::int64_t value) { parameter(index) = std::to_string(value); }

void PostgresStatement::bind_real(int index, double value) {
  if (std::isnan(value)) {
    parameter(index).reset();
  } else {
    parameter(index) = std::isinf(value) ? (value > 0 ? "Infinity" : "-Infinity") : fmt::format("{}", value);
  }
}

void PostgresStatement::bind_text(int index, std::string_view value) {
  if (value.find('\0') != std::string_view::npos && !bind_error_) {
    bind_error_ = Error{ErrorCode::invalid_argument, failure_text(owner_.name(), "a text may hold no NUL", sql_)};
  }
  parameter(index) = std::string(value);
}

void PostgresStatement::bind_blob(int index, std::span<const std::uint8_t> bytes) { parameter(index) = to_hex(bytes); }

void PostgresStatement::bind_null(int index) { parameter(index).reset(); }

Status PostgresStatement::run() {
  if (bind_error_) return *bind_error_;
  std::vector<const char*> values;
  values.reserve(parameters_.size());
  for (const auto& parameter : parameters_) values.push_back(parameter ? parameter->c_str() : nullptr);
  STARLING_ASSIGN(result_, owner_.run(name_, values, sql_));
  row_ = -1;
  return {};
}

Result<bool> PostgresStatement::step() {
  if (!result_) STARLING_TRY(run());
  if (row_ + 1 >= static_cast<int>(result_->size())) return false;
  ++row_;
  return true;
}

void PostgresStatement::reset() {
  result_.reset();
  bind_error_.reset();
}

bool PostgresStatement::at_row() const { return result_ && row_ >= 0 && row_ < static_cast<int>(result_->size()); }

std::string_view PostgresStatement::value(int column) const {
  if (!at_row()) return {};
  const pqxx::field field = (*result_)[row_][column];
  return {field.c_str(), field.size()};
}

bool PostgresStatement::is_of(int column, pqxx::oid type) const {
  return result_ && result_->column_type(column) == type;
}

bool PostgresStatement::is_null(int column) const { return !at_row() || (*result_)[row_][column].is_null(); }

std::int64_t PostgresStatement::integer(int column) const {
  const std::string_view written = value(column);
  if (is_of(column, kBool)) return written == "t" ? 1 : 0;
  std::int64_t number = 0;
  std::from_chars(written.data(), written.data() + written.size(), number);  // stops at the decimal point of a fraction
  return number;
}

double PostgresStatement::real(int column) const {
  const std::string_view written = value(column);
  double number = 0;
  std::from_chars(written.data(), written.data() + written.size(), number);
  return number;
}

std::string PostgresStatement::text(int column) const {
  const std::string_view written = value(column);
  return is_of(column, kBytea) ? from_hex(written) : std::string(written);
}

Status PostgresStatement::read_blob(int column, std::span<std::uint8_t> out) const {
  const std::string bytes = from_hex(value(column));
  if (bytes.size() != out.size()) {
    return Error{
        ErrorCode::corrupt,
        failure_text(owner_.name(), fmt::format("an id of {} bytes where {} belong", bytes.size(), out.size()), sql_)};
  }
  std::copy(bytes.begin(), bytes.end(), out.begin());
  return {};
}

}  // namespace starling::db
