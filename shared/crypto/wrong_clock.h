// Tells failures that a wrong clock explains from other refused certificates, which have the same code.
#pragma once

#include <string_view>

#include "shared/base/result.h"

namespace starling::crypto {

// Follows the library's own reason in such an error, and the remedy follows it.
inline constexpr std::string_view kWrongClock = ": a clock is wrong; check this computer's date and time";

// Whether a certificate's time has not come, by the clock that judged it. True with any prefix or ending as well.
inline bool is_wrong_clock(const Error& error) { return error.message.find(kWrongClock) != std::string::npos; }

}  // namespace starling::crypto
