#include "coordinator/server/name_clashes.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "db/stores/name_clash.h"

namespace starling::server {
namespace {

constexpr std::size_t kNamed = 20;

}  // namespace

Status check_names(const Project& project) {
  STARLING_ASSIGN(const auto clashes, project.config.database.empty() ? db::clashing_names(project.files.database())
                                                                      : db::clashing_names_at(project.config.database));
  if (clashes.empty()) return {};
  std::string text;
  for (std::size_t i = 0; i < std::min(clashes.size(), kNamed); ++i) {
    const db::NameClash& clash = clashes[i];
    text += fmt::format("{}{} '{}' is too like '{}'", i == 0 ? "" : ", ", clash.kind, clash.name, clash.like);
  }
  if (clashes.size() > kNamed) text += fmt::format(", and {} more", clashes.size() - kNamed);
  return Error{ErrorCode::failed_precondition,
               text + "; such names are refused since, but these stay: their owners may change them"};
}

}  // namespace starling::server
