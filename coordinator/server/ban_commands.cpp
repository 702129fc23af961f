// Keeping volunteers, computers and addresses out, and telling volunteers the news.
#include <fmt/core.h>

#include "coordinator/accounts/ban_list.h"
#include "coordinator/server/arguments.h"
#include "coordinator/server/commands.h"
#include "shared/base/clock.h"

namespace starling::server {
namespace {

constexpr int kNewsListed = 100;

// "user:Ada", "host:<64 hex digits>", "address:192.0.2.0/24", "team:Swans" as the database names them.
Result<db::Ban> subject_of(const std::string& who, const db::Stores& stores) {
  const std::size_t colon = who.find(':');
  const std::string kind = who.substr(0, colon);
  const std::string subject = colon == std::string::npos ? "" : who.substr(colon + 1);
  db::Ban ban;
  if (kind == "user") {
    STARLING_ASSIGN(const db::Account account, stores.accounts.find_account_named(subject));
    ban.kind = db::BanKind::user;
    ban.subject = std::to_string(account.id);
    return ban;
  }
  if (kind == "host") {
    const auto peer = PeerId::from_hex(subject);
    if (!peer) return Error{ErrorCode::invalid_argument, fmt::format("'{}' is no computer: 64 hex digits", subject)};
    ban.kind = db::BanKind::host;
    ban.subject = peer->hex();
    return ban;
  }
  if (kind == "address") {
    STARLING_TRY(accounts::AddressRange::parse(subject).status());
    ban.kind = db::BanKind::address;
    ban.subject = subject;
    return ban;
  }
  if (kind == "team") {
    STARLING_ASSIGN(const db::Team team, stores.teams.find_named(subject));
    ban.kind = db::BanKind::team;
    ban.subject = std::to_string(team.id);
    return ban;
  }
  return Error{ErrorCode::invalid_argument,
               fmt::format("'{}' names nobody; write user:NAME, host:HEX, team:NAME or address:192.0.2.0/24", who)};
}

std::string shown_subject(const db::Ban& ban, const db::Stores& stores) {
  if (ban.kind != db::BanKind::user) return ban.subject;
  const auto account = stores.accounts.find_account(std::strtoll(ban.subject.c_str(), nullptr, 10));
  return account ? account->display_name : ban.subject;
}

}  // namespace

Status add_ban(const BanOptions& options) {
  STARLING_ASSIGN(const Project project, load_project(options.directory));
  STARLING_ASSIGN(const auto database, open_database(project));
  const db::Stores& stores = database->stores();
  STARLING_ASSIGN(db::Ban ban, subject_of(options.who, stores));
  ban.reason = options.reason;
  ban.created = SystemClock().wall_now();
  ban.expires = db::kNoExpiry;
  if (!options.lasts.empty()) {
    STARLING_ASSIGN(const Duration lasts, parse_duration(options.lasts));
    ban.expires = {ban.created.unix_ms + to_ms(lasts)};
  }
  STARLING_ASSIGN(const std::int64_t id, stores.bans.add(ban));
  fmt::print("ban {}: {} {} is kept out{}\n", id, name_of(ban.kind), shown_subject(ban, stores),
             ban.expires == db::kNoExpiry ? "" : " until " + local_time(ban.expires));
  return {};
}

Status list_bans(const std::filesystem::path& directory) {
  STARLING_ASSIGN(const Project project, load_project(directory));
  STARLING_ASSIGN(const auto database, open_database(project));
  const db::Stores& stores = database->stores();
  STARLING_ASSIGN(const auto bans, stores.bans.list());
  const WallTime now = SystemClock().wall_now();
  fmt::print("{:<5} {:<8} {:<40} {:<17} {:<17} {}\n", "ban", "kind", "who", "since", "until", "reason");
  for (const db::Ban& ban : bans) {
    const std::string until = ban.expires == db::kNoExpiry ? "for good" : local_time(ban.expires);
    fmt::print("{:<5} {:<8} {:<40} {:<17} {:<17} {}{}\n", ban.id, name_of(ban.kind), shown_subject(ban, stores),
               local_time(ban.created), until, ban.reason, ban.expires <= now ? " (over)" : "");
  }
  return {};
}

Status remove_ban(const NumberedOptions& options) {
  STARLING_ASSIGN(const Project project, load_project(options.directory));
  STARLING_ASSIGN(const auto database, open_database(project));
  STARLING_TRY(database->stores().bans.remove(options.number));
  fmt::print("ban {} is lifted\n", options.number);
  return {};
}

Status post_news(const NewsOptions& options) {
  STARLING_ASSIGN(const Project project, load_project(options.directory));
  STARLING_ASSIGN(const auto database, open_database(project));
  STARLING_ASSIGN(const std::int64_t id,
                  database->stores().news.add({0, SystemClock().wall_now(), options.title, options.body}));
  fmt::print("news {} is on the project's first page\n", id);
  return {};
}

Status list_news(const std::filesystem::path& directory) {
  STARLING_ASSIGN(const Project project, load_project(directory));
  STARLING_ASSIGN(const auto database, open_database(project));
  STARLING_ASSIGN(const auto news, database->stores().news.list(kNewsListed));
  for (const db::News& item : news) fmt::print("{:<5} {:<17} {}\n", item.id, local_time(item.at), item.title);
  return {};
}

Status remove_news(const NumberedOptions& options) {
  STARLING_ASSIGN(const Project project, load_project(options.directory));
  STARLING_ASSIGN(const auto database, open_database(project));
  STARLING_TRY(database->stores().news.remove(options.number));
  fmt::print("news {} is gone\n", options.number);
  return {};
}

}  // namespace starling::server
