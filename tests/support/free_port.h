// Ports for servers that a test starts in a moment.
#pragma once

#include <cstdint>

namespace starling::testing {

// A loopback TCP port that is free, and that no other test is given before this process ends. It lies below the range
// from which the kernel takes ports for connections and for whoever asks for any port, so that none of these can have
// it when the server begins to listen.
std::uint16_t free_port();

}  // namespace starling::testing
