// Actions that an operator takes with a form on their page, by name: "ban", "start", ….
#pragma once

#include <string_view>

#include "coordinator/operations/desk.h"
#include "coordinator/web/form.h"
#include "shared/base/result.h"

namespace starling::web {

struct OperatorAct {
  std::string_view page;                                          // the page that has its form, and shows the result
  Status (*act)(const operations::Desk& desk, const Form& form);  // its error is shown on the page
  std::string_view done;                                          // the message after success
  db::OperatorRole role = db::OperatorRole::moderator;            // the role that may take it, beside operators
};
// Null if there is no such action.
const OperatorAct* operator_act(std::string_view name);

}  // namespace starling::web
