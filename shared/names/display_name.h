// Names that volunteers show to the world.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "shared/base/result.h"

namespace starling::names {

// The name as it is kept: without blanks around it, composed (NFC). Error invalid_argument, which says what is wrong
// and names the character, unless it is valid UTF-8 of
//  - 1 to 32 grapheme clusters, which is what readers take for letters, in at most 64 characters and 128 bytes;
//  - letters and digits of any script, at least one of them; single blanks; '.', '_' and '-';
//  - word signs between letters, such as Catalan's middle dot, and Hebrew's geresh;
//  - marks behind a letter or digit, as the spelling of many languages needs them;
//  - joiners (ZWJ, ZWNJ) within words of scripts that use them;
//  - letters of one direction: none is written from right to left beside others that are not.
Result<std::string> check_display_name(std::string_view name);

// Returns as many whole letters as `bytes_max` bytes hold, with an ellipsis where some are left out.
std::string shortened_name(std::string_view name, std::size_t bytes_max);

// A name for somebody whose wanted one is taken: as much of it as there is room for, and the number, 0 to 99.
std::string numbered_name(std::string_view name, int number);

}  // namespace starling::names
