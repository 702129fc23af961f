// The version of this build, as every program reports it.
#pragma once

#include <string_view>

namespace starling {

extern const std::string_view kVersion;

// Negative, zero or positive as `a` is older than, equal to or newer than `b`. Versions are dotted numbers; a part that
// is no number counts as 0.
int compare_versions(std::string_view a, std::string_view b);

}  // namespace starling
