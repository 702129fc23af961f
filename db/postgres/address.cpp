#include <fmt/core.h>
#include <libpq-fe.h>

#include <map>
#include <memory>

#include "db/postgres/errors.h"
#include "db/postgres/open.h"

namespace starling::db {
namespace {

struct FreeOptions {
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};

}  // namespace

Result<std::string> public_address(const std::string& url) {
  if (!url.starts_with("postgresql://") && !url.starts_with("postgres://")) {
    return Error{
        ErrorCode::invalid_argument,
        "a database's address looks like postgresql://user@host:5432/name (or is left out: then it is a file)"};
  }
  char* problem = nullptr;
  const std::unique_ptr<PQconninfoOption, FreeOptions> options(PQconninfoParse(url.c_str(), &problem));
  // What libpq says may quote the address, and that the password.
  PQfreemem(problem);
  if (!options) return Error{ErrorCode::invalid_argument, "the database's address can not be read: see libpq's URIs"};
  std::map<std::string_view, std::string> values;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr) values[option->keyword] = option->val;
  }
  const auto with = [&](std::string_view before, std::string_view key) {
    const std::string& value = values[key];
    return value.empty() ? std::string() : fmt::format("{}{}", before, value);
  };
  const std::string user = values["user"].empty() ? "" : values["user"] + "@";
  return fmt::format("postgresql://{}{}{}{}", user, values["host"], with(":", "port"), with("/", "dbname"));
}

}  // namespace starling::db
