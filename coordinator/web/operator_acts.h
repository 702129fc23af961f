// What an operator does by a form on their page, by name: "ban", "start", ….
#pragma once

#include <string_view>

#include "coordinator/operations/desk.h"
#include "coordinator/web/form.h"
#include "shared/base/result.h"

namespace starling::web {

struct OperatorAct {
  std::string_view page;                                          // that has its form
  Status (*act)(const operations::Desk& desk, const Form& form);  // what fails is told there
  std::string_view done;                                          // what is told there otherwise
};
// Null: there is no such act.
const OperatorAct* operator_act(std::string_view name);

}  // namespace starling::web
