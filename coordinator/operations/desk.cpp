#include "coordinator/operations/desk.h"

#include <fmt/core.h>
#include <pwd.h>
#include <unistd.h>

#include <array>

#include "coordinator/operations/audit_chain.h"
#include "shared/base/plain_text.h"
#include "shared/base/short_text.h"

namespace starling::operations {
namespace {

constexpr std::size_t kWhoBytesMax = 80;
constexpr std::size_t kSubjectBytesMax = 200;
constexpr std::size_t kNoteBytesMax = 1000;

std::string cut(std::string_view said, std::size_t bytes_max) {
  return std::string(cut_text(plain_line(said), bytes_max));
}

}  // namespace

std::string command_user() {
  constexpr std::size_t kBytes = 4096;
  std::array<char, kBytes> buffer{};
  passwd entry = {};
  passwd* found = nullptr;
  const uid_t user = ::geteuid();
  if (::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) {
    return fmt::format("user {} (command)", user);
  }
  return fmt::format("{} (command)", found->pw_name);
}

Status note(const Desk& desk, std::string_view action, std::string_view subject, std::string_view why) {
  const Status noted =
      desk.stores.operation.audit.add({0, desk.clock.wall_now(), cut(desk.who, kWhoBytesMax), std::string(action),
                                       cut(subject, kSubjectBytesMax), cut(why, kNoteBytesMax)},
                                      chain);
  return noted.ok() ? noted : noted.error().prefixed("it is done, but could not be put into the audit log");
}

}  // namespace starling::operations
