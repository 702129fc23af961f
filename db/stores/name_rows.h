// Rows that have a name which nobody else may have, nor one like it. Inside db/stores only.
#pragma once

#include <string>
#include <string_view>

#include "db/sql/connection.h"
#include "db/stores/name_keys.h"
#include "shared/base/result.h"

namespace starling::db {

// A table of such rows: where its key and its names stand. All have name_fold, name_look, name_capitals and name_twin.
struct NameTable {
  std::string_view table;
  std::string_view key;
  std::string_view name;
};
constexpr NameTable kAccountNames{"account", "id", "display_name"};
constexpr NameTable kTeamNames{"team", "id", "name"};
constexpr NameTable kOperatorNames{"operator", "name", "name"};

// A subquery: the key of the row with that name as it is written, else of the one whose name folds alike, else NULL.
// `name` and `fold` are the parameters, such as "?1", that have the name and its NameKeys::fold.
std::string key_of_name(const NameTable& table, std::string_view name, std::string_view fold);

// The name of a row other than `except` that has this name or one like it; empty: there is none. An empty `except` is
// nobody's key. Inside a write of the caller's, so that nobody else takes the name meanwhile.
Result<std::string> name_like(Connection& connection, const NameTable& table, const std::string& name,
                              const std::string& except = "");
// already_exists if there is one; the message has its name.
Status expect_free(Connection& connection, const NameTable& table, const std::string& name,
                   const std::string& except = "");

// Fills the columns of rows that have none yet, and of all rows when the rules are new (name_rules). Names that are too
// like an earlier one stay, and are numbered as twins. Costs two queries when nothing is to be done.
Status bring_names_up_to_date(Connection& connection);

}  // namespace starling::db
