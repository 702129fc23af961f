// Names that are too like each other, for operators.
#pragma once

#include "coordinator/server/project.h"
#include "shared/base/result.h"

namespace starling::server {

// failed_precondition names accounts, teams and operators whose names are too like an earlier one's: they are from
// before that was refused, and stay. The project's database has been opened by this version.
Status check_names(const Project& project);

}  // namespace starling::server
