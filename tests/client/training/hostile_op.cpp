// An op that does what a program's smuggled-in native code would do: TorchScript alone cannot open a connection.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <torch/library.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace {

// 0, or the error number.
std::int64_t connect_to(std::int64_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  if (fd < 0) return errno;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int failed = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const std::int64_t why = failed == 0 ? 0 : errno;
  ::close(fd);
  return why;
}

}  // namespace

// CONSERVATIVE: the op must not be computed once and kept as a constant.
TORCH_LIBRARY_FRAGMENT(aten, library) {
  library.def(torch::schema("aten::starling_connect(int port) -> int", c10::AliasAnalysisKind::CONSERVATIVE),
              connect_to);
}
