// What operators do, whether by a command or on their page: the same checks, and a line in the audit log for each.
// Messages of errors are for them.
#pragma once

#include <string>
#include <string_view>

#include "db/stores/stores.h"
#include "shared/base/clock.h"
#include "shared/base/result.h"

namespace starling::operations {

// From where an operator acts. What it refers to must outlive it.
struct Desk {
  const db::Stores& stores;
  const Clock& clock;
  std::string who;  // an operator's name, or command_user()
};

// "ada (command)": the system's user who runs this process.
std::string command_user();

// A line in the audit log. What is longer than the log takes is cut.
Status note(const Desk& desk, std::string_view action, std::string_view subject, std::string_view why = "");

}  // namespace starling::operations
