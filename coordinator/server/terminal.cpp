#include "coordinator/server/terminal.h"

#include <fmt/core.h>
#include <termios.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>

namespace starling::server {
namespace {

// The terminal does not show what is typed while an object of this class lives.
class Unseen {
 public:
  Unseen() : changed_(::tcgetattr(STDIN_FILENO, &before_) == 0) {
    if (!changed_) return;
    termios unseen = before_;
    unseen.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    changed_ = ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &unseen) == 0;
  }
  ~Unseen() {
    if (changed_) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
  }
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;

 private:
  termios before_ = {};
  bool changed_;
};

}  // namespace

bool is_terminal() { return ::isatty(STDIN_FILENO) == 1; }

bool confirms(const std::string& question) {
  if (!is_terminal()) return false;
  for (std::string answer; answer.empty();) {
    fmt::print("{} [yes/no] ", question);
    std::fflush(stdout);
    if (!std::getline(std::cin, answer)) return false;
    if (answer == "y" || answer == "yes") return true;
  }
  return false;
}

Result<std::string> read_secret(const std::string& prompt) {
  if (!is_terminal()) return Error{ErrorCode::failed_precondition, "there is no terminal to ask at"};
  fmt::print("{}: ", prompt);
  std::fflush(stdout);
  std::string line;
  const Unseen unseen;
  const bool read = static_cast<bool>(std::getline(std::cin, line));
  fmt::print("\n");
  if (!read) return Error{ErrorCode::failed_precondition, "nothing was typed"};
  return line;
}

}  // namespace starling::server
