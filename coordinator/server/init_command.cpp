#include <fmt/core.h>

#include <cstdio>

#include "coordinator/gate/address.h"
#include "coordinator/server/arguments.h"
#include "coordinator/server/commands.h"
#include "db/postgres/open.h"
#include "shared/base/clock.h"
#include "shared/base/shell_words.h"
#include "shared/names/display_name.h"

namespace starling::server {
namespace {

Result<ProjectConfig> config_of(const InitOptions& options) {
  ProjectConfig config;
  config.open_to_all = options.open_to_all;
  config.approval = options.approval;
  config.anonymous = options.anonymous;
  config.hosts_per_account = options.hosts_per_account;
  config.database = options.database;
  if (!config.database.empty()) STARLING_TRY(db::public_address(config.database).status());
  STARLING_ASSIGN(config.name, names::check_display_name(options.name));
  STARLING_ASSIGN(config.listen, parse_endpoint(options.listen));
  STARLING_TRY(gate::parse_address(config.listen.host, config.listen.port).status());
  config.public_at = config.listen;
  if (!options.public_at.empty()) {
    STARLING_ASSIGN(config.public_at, parse_endpoint(options.public_at));
  }
  if (is_wildcard(config.public_at.host)) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("volunteers can not dial {}; add --public HOST:{} with a name or address they can",
                             config.public_at.host, config.listen.port)};
  }
  return config;
}

}  // namespace

Status init_project(const InitOptions& options) {
  STARLING_ASSIGN(const ProjectConfig config, config_of(options));
  auto project = create_project(options.directory, config, SystemClock().wall_now());
  if (!project) return project.error();
  const std::string directory = options.directory.string();
  fmt::print("project '{}' is in '{}'\n", config.name, directory);
  fmt::print("  its identity  sha256:{}\n", project->authority.fingerprint().hex());
  fmt::print("  keep          {0}/ca.key and {0}/manifest.key: whoever has them is the project\n", directory);
  if (!config.database.empty()) fmt::print("  its database  {}\n", database_place(*project));
  const std::string word = shell_word(directory);
  fmt::print("next:\n");
  fmt::print("  starling-coordinator run create {} manifest.toml\n", word);
  fmt::print("  starling-coordinator run start {}\n", word);
  fmt::print("  starling-coordinator serve {}\n", word);
  fmt::print("a first volunteer may join within 7 days with:\n");
  return new_invite({.directory = options.directory});
}

}  // namespace starling::server
