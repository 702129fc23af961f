#include "client/cli/password.h"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "shared/base/files.h"
#include "shared/base/unique_fd.h"
#include "shared/protocol/limits.h"

namespace starling::cli {
namespace {

constexpr std::size_t kFileBytesMax = 4096;

// Hides typed characters at a terminal until it is destroyed.
class Hidden {
 public:
  explicit Hidden(int terminal) : terminal_(terminal), was_there_(::tcgetattr(terminal, &before_) == 0) {
    if (!was_there_) return;
    termios hidden = before_;
    hidden.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    hidden.c_lflag |= ECHONL;
    ::tcsetattr(terminal, TCSAFLUSH, &hidden);
  }
  ~Hidden() {
    if (was_there_) ::tcsetattr(terminal_, TCSAFLUSH, &before_);
  }
  Hidden(const Hidden&) = delete;
  Hidden& operator=(const Hidden&) = delete;

 private:
  int terminal_;
  termios before_{};
  bool was_there_;
};

std::string first_line(std::string text) {
  text.resize(std::min(text.size(), text.find_first_of("\r\n")));
  return text;
}

Result<std::string> checked(std::string password) {
  if (password.empty()) return Error{ErrorCode::invalid_argument, "no password was given"};
  if (password.size() <= wire::kPasswordBytesMax) return password;
  return Error{ErrorCode::invalid_argument,
               "a password has " + std::to_string(wire::kPasswordBytesMax) + " bytes at most"};
}

Result<std::string> ask(int terminal, const std::string& question) {
  const Hidden hidden(terminal);  // before the question: characters typed early are dropped
  if (::write(terminal, question.data(), question.size()) < 0) {
    return Error{ErrorCode::io, "the terminal does not take the question for the password"};
  }
  std::string typed;
  for (char c = 0; ::read(terminal, &c, 1) == 1 && c != '\n';) {
    if (typed.size() <= wire::kPasswordBytesMax) typed += c;
  }
  return checked(std::move(typed));
}

}  // namespace

Result<std::string> read_password(const std::filesystem::path& file) {
  if (file == "-") {
    std::string line;
    std::getline(std::cin, line);
    return checked(first_line(std::move(line)));
  }
  auto text = read_file(file, kFileBytesMax);
  if (!text.ok()) return text.error().prefixed("--password-file");
  return checked(first_line(std::move(*text)));
}

Result<std::string> ask_password(bool twice) {
  const UniqueFd terminal(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
  if (terminal.get() < 0) {
    return Error{ErrorCode::failed_precondition,
                 "there is no terminal to ask for the password at; give it by --password-file FILE, or - for standard "
                 "input"};
  }
  STARLING_ASSIGN(std::string password, ask(terminal.get(), "Password: "));
  if (!twice) return password;
  STARLING_ASSIGN(const std::string again, ask(terminal.get(), "The same again: "));
  if (again == password) return password;
  return Error{ErrorCode::invalid_argument, "the two passwords are not the same; nothing was done"};
}

}  // namespace starling::cli
