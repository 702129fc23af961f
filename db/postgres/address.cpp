#include <fmt/core.h>
#include <libpq-fe.h>

#include <map>
#include <memory>

#include "db/postgres/address.h"
#include "db/postgres/open.h"

namespace starling::db {
namespace {

using Options = std::map<std::string, std::string>;

struct FreeOptions {
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};

Result<Options> read_address(const std::string& url) {
  if (!url.starts_with("postgresql://") && !url.starts_with("postgres://")) {
    return Error{
        ErrorCode::invalid_argument,
        "a database's address looks like postgresql://user@host:5432/name (or is left out: then it is a file)"};
  }
  char* problem = nullptr;
  const std::unique_ptr<PQconninfoOption, FreeOptions> options(PQconninfoParse(url.c_str(), &problem));
  // libpq's message may quote the address, which may contain the password.
  PQfreemem(problem);
  if (!options) return Error{ErrorCode::invalid_argument, "the database's address can not be read: see libpq's URIs"};
  Options values;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr) values[option->keyword] = option->val;
  }
  return values;
}

std::string in_quotes(const std::string& value) {
  std::string text = "'";
  for (const char c : value) {
    if (c == '\'' || c == '\\') text += '\\';
    text += c;
  }
  return text + "'";
}

}  // namespace

Result<std::string> public_address(const std::string& url) {
  STARLING_ASSIGN(Options values, read_address(url));
  const auto with = [&](std::string_view before, const char* key) {
    const std::string& value = values[key];
    return value.empty() ? std::string() : fmt::format("{}{}", before, value);
  };
  const std::string user = values["user"].empty() ? "" : values["user"] + "@";
  return fmt::format("postgresql://{}{}{}{}", user, values["host"], with(":", "port"), with("/", "dbname"));
}

Result<std::string> connection_options(const std::string& url) {
  STARLING_ASSIGN(Options values, read_address(url));
  values.merge(Options{{"connect_timeout", "5"},
                       {"fallback_application_name", "starling-coordinator"},
                       {"client_encoding", "UTF8"},
                       {"keepalives_idle", "1"},
                       {"keepalives_count", "2"},
                       {"keepalives_interval", "1"},
                       {"tcp_user_timeout", "3000"}});
  std::string text;
  for (const auto& [key, value] : values) text += fmt::format("{}={} ", key, in_quotes(value));
  return text;
}

}  // namespace starling::db
