#include "shared/base/host_name.h"

namespace starling {

bool is_host_name(std::string_view text) {
  constexpr std::size_t kBytesMax = 253;
  constexpr std::string_view kCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._";
  return !text.empty() && text.size() <= kBytesMax && text.front() != '-' && text.front() != '.' &&
         text.find_first_not_of(kCharacters) == std::string_view::npos;
}

}  // namespace starling
