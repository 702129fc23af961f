#include "shared/base/standard_output.h"

#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>

namespace starling {
namespace {

// The other end of a pipe or a socket is closed.
bool has_no_reader(int descriptor) {
  pollfd output{descriptor, POLLOUT, 0};
  return ::poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace

int with_output_written(std::string_view program, int status) {
  errno = 0;
  const bool shown = std::cout.flush().good();  // CLI11 prints its help there
  const bool printed = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  const int problem = errno;
  if ((shown && printed) || problem == EPIPE || has_no_reader(STDOUT_FILENO)) return status;
  fmt::print(stderr, "{}: not all of the output could be written{}; the command itself {}\n", program,
             problem == 0 ? std::string() : fmt::format(": {}", std::strerror(problem)),
             status == 0 ? "is done: do not repeat what must happen once" : "failed, too");
  return status == 0 ? 1 : status;
}

}  // namespace starling
