#include "shared/reach/call_sorter.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <vector>

#include "shared/base/unique_fd.h"
#include "shared/reach/listener.h"

namespace starling::reach {
namespace {

// A port whose callers are sorted, and callers from any address of the loopback network.
struct Port {
  Port() { REQUIRE(listener.listen("127.0.0.1", 0).ok()); }

  UniqueFd call(const std::string& from) {
    UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in at{};
    at.sin_family = AF_INET;
    REQUIRE(::inet_pton(AF_INET, from.c_str(), &at.sin_addr) == 1);
    REQUIRE(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons(static_cast<std::uint16_t>(listener.port()));
    REQUIRE(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0);
    while (io.poll() > 0) io.restart();
    io.restart();
    return fd;
  }
  // Whether the port has hung up.
  static bool ended(const UniqueFd& fd) {
    char byte = 0;
    const ssize_t got = ::recv(fd.get(), &byte, 1, MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN);
  }
  static std::size_t staying(const std::vector<UniqueFd>& callers) {
    std::size_t count = 0;
    for (const UniqueFd& fd : callers) count += ended(fd) ? 0 : 1;
    return count;
  }

  asio::io_context io;
  std::size_t links = 0;
  CallSorter sorter{io, std::chrono::minutes(1), [this](const asio::ip::tcp::socket&) { ++links; },
                    [](const asio::ip::tcp::socket&) {}};
  Listener listener{io, [this](asio::ip::tcp::socket socket) { sorter.take(std::move(socket)); }};
};

}  // namespace

TEST_CASE("a network of silent callers has half of the places, and pushes nobody else out") {
  Port port;
  const UniqueFd honest = port.call("127.0.9.1");
  std::vector<UniqueFd> first;
  for (int i = 0; i < 100; ++i) first.push_back(port.call("127.0.1." + std::to_string(i + 1)));
  CHECK(Port::staying(first) == 32);
  std::vector<UniqueFd> second;
  for (int i = 0; i < 100; ++i) second.push_back(port.call("127.0.2." + std::to_string(i + 1)));
  CHECK(Port::staying(first) + Port::staying(second) == 63);
  CHECK_FALSE(Port::ended(honest));
  const UniqueFd late = port.call("127.0.3.1");  // all places are taken: one of a crowd gives way
  CHECK_FALSE(Port::ended(late));
  CHECK_FALSE(Port::ended(honest));
  CHECK(Port::staying(first) + Port::staying(second) == 62);
  REQUIRE(::send(honest.get(), "\x16", 1, MSG_NOSIGNAL) == 1);
  while (port.links == 0) port.io.run_one();
  CHECK(port.links == 1);
}

}  // namespace starling::reach
