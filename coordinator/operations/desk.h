// Actions of operators, by a command or on their page: both run equal checks and write a line to the audit log. Error
// messages address the operator.
#pragma once

#include <string>
#include <string_view>

#include "db/stores/stores.h"
#include "shared/base/clock.h"
#include "shared/base/result.h"

namespace starling::operations {

// The context in which an operator acts. Its references must outlive it.
struct Desk {
  const db::Stores& stores;
  const Clock& clock;
  std::string who;  // an operator's name, or command_user()
};

// "ada (command)": the system user who runs this process.
std::string command_user();

// Writes a line to the audit log. Longer texts are cut to its limits.
Status note(const Desk& desk, std::string_view action, std::string_view subject, std::string_view why = "");

}  // namespace starling::operations
