#include "shared/wire/checker.h"

#include <fmt/format.h>

namespace starling::wire {

void Checker::word(std::string_view field, std::string_view value, bool known, std::string_view words) {
  that(known, field, fmt::format("'{}'", value), words);
}

void Checker::that(bool holds, std::string_view field, std::string_view found, std::string_view wanted) {
  if (holds || !status_.ok()) return;
  status_ =
      Error{ErrorCode::invalid_argument, fmt::format("run manifest: {} is {}; it must be {}", field, found, wanted)};
}

std::string Checker::to_text(double value) { return fmt::format("{}", value); }

}  // namespace starling::wire
