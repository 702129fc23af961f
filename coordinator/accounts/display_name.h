// Names that volunteers show to the world.
#pragma once

#include <string>
#include <string_view>

#include "shared/base/result.h"

namespace starling::accounts {

// The name without blanks around it. Error invalid_argument unless it is 1 to 32 letters or digits of any script,
// blanks, '.', '_' or '-', at least one of them a letter or digit: no invisible characters, and none that change the
// direction of text.
Result<std::string> check_display_name(std::string_view name);

}  // namespace starling::accounts
