#include "coordinator/operations/roles.h"

#include <fmt/core.h>

namespace starling::operations {
namespace {

std::string_view title_of(db::OperatorRole role) {
  return role == db::OperatorRole::run_manager ? "run manager" : name_of(role);
}

}  // namespace

bool may_act(db::OperatorRole holder, db::OperatorRole needed) {
  return holder == db::OperatorRole::all || (holder == needed && needed != db::OperatorRole::viewer);
}

Status expect_role(std::string_view name, db::OperatorRole holder, db::OperatorRole needed) {
  if (may_act(holder, needed)) return {};
  return Error{ErrorCode::permission_denied,
               fmt::format("'{}' is a {}; this takes a {} or an operator", name, title_of(holder), title_of(needed))};
}

}  // namespace starling::operations
