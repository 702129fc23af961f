// PostgreSQL's errors as ours. Used inside db/postgres only.
#pragma once

#include <string>
#include <string_view>

#include "shared/base/result.h"

namespace starling::db {

// The code for an SQLSTATE (PostgreSQL's manual, appendix A); internal for states that are never expected.
ErrorCode code_of_state(std::string_view state);

// The message on one line.
std::string plain(std::string_view message);
// The reason within a server's message: "ERROR:  duplicate key …" without the severity, and without the lines of
// detail, which quote values that may be private.
std::string reason(std::string_view message);

}  // namespace starling::db
