// PostgreSQL's errors as ours. Inside db/postgres only.
#pragma once

#include <string>
#include <string_view>

#include "shared/base/result.h"

namespace starling::db {

// By SQLSTATE (PostgreSQL's manual, appendix A); internal for what was never expected.
ErrorCode code_of_state(std::string_view state);

// In one line.
std::string plain(std::string_view message);
// The reason in what the server says: "ERROR:  duplicate key …" without the severity, and without the lines of details,
// which quote values that may be nobody's business.
std::string reason(std::string_view message);

}  // namespace starling::db
