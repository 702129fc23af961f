#include "shared/base/paths.h"

#include <doctest/doctest.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>

using starling::default_data_dir;

namespace {

// Sets a variable, or unsets it, until the end of a scope.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name); before != nullptr) before_ = before;
    value != nullptr ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace

TEST_CASE("a user's files lie where the environment says, if that is one place") {
  const Variable own("STARLING_DATA_DIR", nullptr);
  const Variable data("XDG_DATA_HOME", nullptr);
  const Variable home("HOME", "/home/ada");
  CHECK(default_data_dir() == "/home/ada/.local/share/starling");
  {
    const Variable absolute("XDG_DATA_HOME", "/srv/data");
    CHECK(default_data_dir() == "/srv/data/starling");
    const Variable first("STARLING_DATA_DIR", "here");
    CHECK(default_data_dir() == "here");
  }
  for (const char* relative : {"", "data", "./data", "~/data"}) {
    const Variable ignored("XDG_DATA_HOME", relative);
    CHECK(default_data_dir() == "/home/ada/.local/share/starling");
  }
}

TEST_CASE("without HOME, the system knows where the user is at home") {
  const Variable own("STARLING_DATA_DIR", nullptr);
  const Variable data("XDG_DATA_HOME", nullptr);
  const passwd* user = ::getpwuid(::geteuid());
  const std::string expected = user == nullptr ? "starling-data" : std::string(user->pw_dir) + "/.local/share/starling";
  for (const char* value : {static_cast<const char*>(nullptr), "", "home"}) {
    const Variable home("HOME", value);
    CHECK(default_data_dir() == expected);
  }
}
