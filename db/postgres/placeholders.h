// Placeholders of parameters. Used inside db/postgres only.
#pragma once

#include <string>
#include <string_view>

namespace starling::db {

// The statement with $1, $2 … in place of ?1, ?2 … or of each ?, as PostgreSQL requires. Quoted text stays as it is.
std::string numbered_parameters(std::string_view sql);

}  // namespace starling::db
