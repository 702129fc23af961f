#include <fmt/core.h>

#include "coordinator/server/arguments.h"
#include "coordinator/server/commands.h"
#include "shared/base/clock.h"
#include "shared/crypto/secrets.h"
#include "shared/manifest/join_link.h"

namespace starling::server {
namespace {

constexpr std::int64_t kUsesMax = 1'000'000;

std::string standing(const db::Invite& invite, WallTime now) {
  if (invite.uses >= invite.uses_max) return "used up";
  return invite.expires <= now ? "expired" : "open";
}

}  // namespace

Status new_invite(const InviteOptions& options) {
  STARLING_ASSIGN(const Project project, load_project(options.directory));
  STARLING_ASSIGN(const Duration lifetime, parse_duration(options.expires));
  if (options.uses < 1 || options.uses > kUsesMax) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("an invite has 1 to {} uses, not {}", kUsesMax, options.uses)};
  }
  STARLING_ASSIGN(const auto database, open_database(project));
  const std::string token = crypto::make_token();
  db::Invite invite;
  invite.token_hash = crypto::hash_token(token);
  invite.created = SystemClock().wall_now();
  invite.expires = {invite.created.unix_ms + to_ms(lifetime)};
  invite.uses_max = options.uses;
  STARLING_TRY(database->stores().people.invites.add(invite));
  const SystemClock clock;
  STARLING_TRY(operations::note(desk_of(*database, clock), "invite new", invite.token_hash.brief(),
                                fmt::format("{} uses, for {}", options.uses, options.expires)));
  const net::Endpoint& at = project.config.public_at;
  fmt::print("{}\n", manifest::format_join_link({at.host, at.port, project.authority.fingerprint(), token}));
  return {};
}

Status list_invites(const std::filesystem::path& directory) {
  STARLING_ASSIGN(const Project project, load_project(directory));
  STARLING_ASSIGN(const auto database, open_database(project));
  const WallTime now = SystemClock().wall_now();
  fmt::print("{:<10} {:<18} {:<18} {:<12} {}\n", "invite", "created", "expires", "uses", "state");
  for (db::Page page{.limit = db::kPageRowsMax};; page.offset += page.limit) {
    STARLING_ASSIGN(const auto invites, database->stores().people.invites.list(page));
    for (const db::Invite& invite : invites) {
      fmt::print("{:<10} {:<18} {:<18} {:<12} {}\n", invite.token_hash.brief(), local_time(invite.created),
                 local_time(invite.expires), fmt::format("{} of {}", invite.uses, invite.uses_max),
                 standing(invite, now));
    }
    if (invites.size() < static_cast<std::size_t>(page.limit)) return {};
  }
}

}  // namespace starling::server
