// How long a TCP connection to a peer or a relay lives on while nothing is heard.
#pragma once

namespace starling::reach {

// Sends what is written at once, makes a half-dead connection end, and tells address translators on the way of an idle
// one that it lives.
void keep_alive(int fd);

}  // namespace starling::reach
