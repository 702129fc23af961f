#include "tests/coordinator/server/process.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

namespace starling::server::testing {

std::string Ended::last_line() const {
  const std::size_t end = output.find_last_not_of('\n');
  if (end == std::string::npos) return "";
  const std::size_t begin = output.rfind('\n', end);
  return output.substr(begin == std::string::npos ? 0 : begin + 1,
                       end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

Process::Process(const std::vector<std::string>& command) {
  std::array<int, 2> ends = {};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_ = ::fork();
  REQUIRE(pid_ >= 0);
  if (pid_ == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::dup2(ends[1], STDERR_FILENO);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  output_ = ends[0];
}

Process::~Process() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(output_);
}

bool Process::read_more() {
  std::array<char, 4096> buffer = {};
  for (;;) {
    const ssize_t got = ::read(output_, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    text_.append(buffer.data(), static_cast<std::size_t>(got));
    return true;
  }
}

bool Process::wait_for(const std::string& text) {
  while (text_.find(text) == std::string::npos) {
    if (!read_more()) return false;
  }
  return true;
}

void Process::signal(int number) const { ::kill(pid_, number); }

Ended Process::end() {
  while (read_more()) {
  }
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), text_};
}

Ended run(const std::vector<std::string>& command) { return Process(command).end(); }

}  // namespace starling::server::testing
