#include "shared/reach/keep_alive.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace starling::reach {
namespace {

// A connection on which nothing was acknowledged for this long is dead.
constexpr int kUserTimeoutS = 30;
constexpr int kKeepAliveIdleS = 15;  // address translators forget idle connections after minutes
constexpr int kKeepAliveIntervalS = 5;
constexpr int kKeepAliveProbes = 3;
// Linux counts the user timeout from when something was last heard, and needs only one unanswered probe: an idle
// connection whose first probe comes late would end with the loss of a single packet.
static_assert(kKeepAliveIdleS + kKeepAliveProbes * kKeepAliveIntervalS <= kUserTimeoutS);

void set_option(int fd, int level, int name, int value) { ::setsockopt(fd, level, name, &value, sizeof value); }

}  // namespace

void keep_alive(int fd) {
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, kUserTimeoutS * 1000);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, kKeepAliveIdleS);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, kKeepAliveIntervalS);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, kKeepAliveProbes);
}

}  // namespace starling::reach
