// The body of a refusal.
#pragma once

#include <string>
#include <string_view>

#include "shared/base/result.h"

namespace starling::wire {

// The body of every answer that is no success.
struct ErrorReply {
  std::string code;     // to_string(ErrorCode)
  std::string message;  // for people: what was tried, why it failed, what to do
};

std::string encode(const ErrorReply& message);
// corrupt for bytes that are not JSON; invalid_argument, naming the field, for values out of range.
Result<ErrorReply> decode_error_reply(std::string_view json);

}  // namespace starling::wire
