// How long a TCP connection to a peer or a relay stays open while nothing is heard.
#pragma once

namespace starling::reach {

// Sends written bytes at once, ends half-dead connections, and keeps idle ones alive in the address translators on the
// way.
void keep_alive(int fd);

}  // namespace starling::reach
