// The rules of a relay that nobody may use.
#pragma once

#include <optional>

#include "shared/reach/relay_types.h"

namespace starling::reach::testing {

struct NobodyMay final : RelayRules {
  [[nodiscard]] bool may_post(const PeerId&) const override { return false; }
  [[nodiscard]] std::optional<RelayAllowance> allowance(const PeerId&, const PeerId&) const override { return {}; }
};

}  // namespace starling::reach::testing
