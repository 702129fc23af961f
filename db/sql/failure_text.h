// Error texts for failed statements. Used inside db/sqlite and db/postgres only.
#pragma once

#include <string>
#include <string_view>

namespace starling::db {

// "database '/srv/a.db': disk I/O error, in "INSERT INTO …"": the beginning of the statement, on one line.
std::string failure_text(std::string_view database, std::string_view why, std::string_view sql);

}  // namespace starling::db
