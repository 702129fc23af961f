// A text as a QR code (ISO/IEC 18004), for cameras.
#pragma once

#include <string>
#include <string_view>

namespace starling::web {

// An inline SVG, black on white in both themes, with the margin of four modules that readers need. `label` describes it
// for people who cannot see it. Empty for a text that no code can hold (more than 2331 bytes).
std::string qr_code(std::string_view text, std::string_view label);

}  // namespace starling::web
