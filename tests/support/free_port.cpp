#include "tests/support/free_port.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <random>
#include <set>
#include <string>

#include "shared/base/unique_fd.h"
#include "shared/base/verify.h"

namespace starling::testing {
namespace {

constexpr int kLeast = 12000;
constexpr int kMost = 32000;  // tests/e2e/programs.py takes its ports from the same range, by the same locks

// Locks the port's byte of a file that all tests share; the lock ends with this process.
bool lock_for_good(int port) {
  static const UniqueFd kFile(
      ::open(("/tmp/starling-test-ports." + std::to_string(::getuid())).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  static std::set<int> own;  // a process's own locks do not keep it away
  VERIFY(kFile.get() >= 0);
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = port;
  lock.l_len = 1;
  return !own.contains(port) && ::fcntl(kFile.get(), F_SETLK, &lock) == 0 && own.insert(port).second;
}

bool is_free(int port) {
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

std::uint16_t free_port() {
  static std::mt19937 random(std::random_device{}());
  for (int tries = 0; tries < 1000; ++tries) {
    const int port = std::uniform_int_distribution(kLeast, kMost)(random);
    if (lock_for_good(port) && is_free(port)) return static_cast<std::uint16_t>(port);
  }
  VERIFY(false);  // thousands of tests at once
  return 0;
}

}  // namespace starling::testing
