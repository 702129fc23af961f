// The one rule for names of hosts: for addresses that people write, and for certificates.
#pragma once

#include <string_view>

namespace starling {

// Letters, digits, '-', '.' and '_', at most 253, beginning with neither '-' nor '.'. Underscores are in no name of the
// Internet's, but in those of containers. Also true of IPv4 addresses.
bool is_host_name(std::string_view text);

}  // namespace starling
