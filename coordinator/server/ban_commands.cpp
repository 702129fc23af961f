// Commands for bans of volunteers, computers, addresses and teams, and for news to volunteers.
#include <fmt/core.h>

#include "coordinator/operations/people.h"
#include "coordinator/server/arguments.h"
#include "coordinator/server/commands.h"
#include "shared/base/clock.h"

namespace starling::server {
namespace {

constexpr int kNewsListed = 100;

}  // namespace

Status add_ban(const BanOptions& options) {
  STARLING_ASSIGN(const Project project, load_project(options.directory));
  STARLING_ASSIGN(const auto database, open_database(project));
  const db::Stores& stores = database->stores();
  operations::BanWanted wanted{options.who, options.reason, {}};
  if (!options.lasts.empty()) {
    STARLING_ASSIGN(wanted.lasts, parse_duration(options.lasts));
  }
  const SystemClock clock;
  STARLING_ASSIGN(const db::Ban ban, operations::add_ban(desk_of(*database, clock), wanted));
  fmt::print("ban {}: {} {} is kept out{}\n", ban.id, name_of(ban.kind),
             operations::shown_subject(ban, stores.people.accounts),
             ban.expires == db::kNoExpiry ? "" : " until " + local_time(ban.expires));
  return {};
}

Status list_bans(const std::filesystem::path& directory) {
  STARLING_ASSIGN(const Project project, load_project(directory));
  STARLING_ASSIGN(const auto database, open_database(project));
  const db::Stores& stores = database->stores();
  STARLING_ASSIGN(const auto bans, stores.operation.bans.list());
  const WallTime now = SystemClock().wall_now();
  fmt::print("{:<5} {:<8} {:<40} {:<17} {:<17} {}\n", "ban", "kind", "who", "since", "until", "reason");
  for (const db::Ban& ban : bans) {
    const std::string until = ban.expires == db::kNoExpiry ? "for good" : local_time(ban.expires);
    fmt::print("{:<5} {:<8} {:<40} {:<17} {:<17} {}{}\n", ban.id, name_of(ban.kind),
               operations::shown_subject(ban, stores.people.accounts), local_time(ban.created), until, ban.reason,
               ban.expires <= now ? " (over)" : "");
  }
  return {};
}

Status remove_ban(const NumberedOptions& options) {
  STARLING_ASSIGN(const Project project, load_project(options.directory));
  STARLING_ASSIGN(const auto database, open_database(project));
  const SystemClock clock;
  STARLING_TRY(operations::remove_ban(desk_of(*database, clock), options.number));
  fmt::print("ban {} is lifted\n", options.number);
  return {};
}

Status post_news(const NewsOptions& options) {
  STARLING_ASSIGN(const Project project, load_project(options.directory));
  STARLING_ASSIGN(const auto database, open_database(project));
  const SystemClock clock;
  STARLING_ASSIGN(const std::int64_t id, operations::post_news(desk_of(*database, clock), options.title, options.body));
  fmt::print("news {} is on the project's first page\n", id);
  return {};
}

Status list_news(const std::filesystem::path& directory) {
  STARLING_ASSIGN(const Project project, load_project(directory));
  STARLING_ASSIGN(const auto database, open_database(project));
  STARLING_ASSIGN(const auto news, database->stores().operation.news.list(kNewsListed));
  for (const db::News& item : news) fmt::print("{:<5} {:<17} {}\n", item.id, local_time(item.at), item.title);
  return {};
}

Status remove_news(const NumberedOptions& options) {
  STARLING_ASSIGN(const Project project, load_project(options.directory));
  STARLING_ASSIGN(const auto database, open_database(project));
  const SystemClock clock;
  STARLING_TRY(operations::remove_news(desk_of(*database, clock), options.number));
  fmt::print("news {} is gone\n", options.number);
  return {};
}

}  // namespace starling::server
