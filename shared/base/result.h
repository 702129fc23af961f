// Errors as values: Status for actions, Result<T> for values that may be missing for a reason. A message says what was
// tried and why it failed: "open checkpoint 'r41.bin': no space left".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "shared/base/verify.h"

namespace starling {

// Kind of a failure, for code that has to react. People read the message.
enum class ErrorCode : std::uint8_t {
  invalid_argument,     // the caller's input can never work
  not_found,            // no such thing
  already_exists,       // it exists, and may not be replaced
  permission_denied,    // known caller, not allowed
  unauthenticated,      // caller not known
  failed_precondition,  // the present state does not allow it
  resource_exhausted,   // a limit was reached: disk, memory, rate
  unavailable,          // try again later
  deadline_exceeded,    // took too long
  corrupt,              // bytes are not what they claim to be
  unsupported,          // this build lacks the version or feature
  io,                   // the operating system reported an error
  internal,             // none of the above
};

std::string_view to_string(ErrorCode code);

// The reason of a failure: the code is for programs, the message for people.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;

  // Puts the action that failed in front of the message: "join project: " + message.
  [[nodiscard]] Error prefixed(std::string_view what) const { return {code, std::string(what) + ": " + message}; }
};

// Success, or an Error.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}  // NOLINT: an error is a status

  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] const Error& error() const {
    VERIFY(error_.has_value());
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

// A value, or the Error that explains why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT: a value is a result
  Result(Error error) : state_(std::move(error)) {}  // NOLINT: so is an error

  [[nodiscard]] bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }

  [[nodiscard]] T& value() & {
    VERIFY(ok());
    return std::get<T>(state_);
  }
  [[nodiscard]] const T& value() const& {
    VERIFY(ok());
    return std::get<T>(state_);
  }
  [[nodiscard]] T&& value() && {
    VERIFY(ok());
    return std::get<T>(std::move(state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  [[nodiscard]] const Error& error() const {
    VERIFY(!ok());
    return std::get<Error>(state_);
  }
  [[nodiscard]] Status status() const { return ok() ? Status() : Status(error()); }

 private:
  std::variant<T, Error> state_;
};

}  // namespace starling

// Leaves the function with the error of `expr` (a Status), if it has one.
#define STARLING_TRY(expr)                                                            \
  do {                                                                                \
    if (::starling::Status starling_try_status = (expr); !starling_try_status.ok()) { \
      return starling_try_status.error();                                             \
    }                                                                                 \
  } while (false)

#define STARLING_CONCAT_INNER(a, b) a##b
#define STARLING_CONCAT(a, b) STARLING_CONCAT_INNER(a, b)
// Declares `decl` from the value of `expr` (a Result), or leaves the function with its error.
#define STARLING_ASSIGN(decl, expr) STARLING_ASSIGN_IMPL(STARLING_CONCAT(starling_result_, __LINE__), decl, expr)
#define STARLING_ASSIGN_IMPL(name, decl, expr) \
  auto name = (expr);                          \
  if (!name.ok()) return name.error();         \
  decl = std::move(name).value()
