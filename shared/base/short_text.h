// Texts that are cut to a length, whole characters of them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace starling {

// The begin of a text, `bytes_max` bytes at most, that ends between two characters.
std::string_view cut_text(std::string_view text, std::size_t bytes_max);
// plain_line of the text (plain_text.h), cut to `bytes_max` bytes, and then with "…" behind it.
std::string short_line(std::string_view text, std::size_t bytes_max);

}  // namespace starling
