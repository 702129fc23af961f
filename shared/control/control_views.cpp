#include "shared/control/control_views.h"

#include <algorithm>
#include <array>

namespace starling::wire {
namespace {

constexpr std::array<std::string_view, kHistorySpans> kSpanNames = {"rounds", "day", "month", "all"};

}  // namespace

std::string_view to_string(HistorySpan span) { return kSpanNames[static_cast<std::size_t>(span)]; }

std::optional<HistorySpan> history_span(std::string_view name) {
  const auto* found = std::find(kSpanNames.begin(), kSpanNames.end(), name);
  if (found == kSpanNames.end()) return std::nullopt;
  return static_cast<HistorySpan>(found - kSpanNames.begin());
}

}  // namespace starling::wire
