#include "shared/base/short_text.h"

#include "shared/base/plain_text.h"

namespace starling {

std::string_view cut_text(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  const auto goes_on = [](char byte) { return static_cast<unsigned char>(byte) >> 6 == 0x2; };
  std::size_t end = bytes_max;
  while (end > 0 && goes_on(text[end])) --end;
  return text.substr(0, end);
}

std::string short_line(std::string_view text, std::size_t bytes_max) {
  const std::string line = plain_line(text);
  return line.size() <= bytes_max ? line : std::string(cut_text(line, bytes_max)) + "…";
}

}  // namespace starling
