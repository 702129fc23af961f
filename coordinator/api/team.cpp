// The team of the calling computer's volunteer.
#include "shared/protocol/team.h"

#include <fmt/core.h>

#include <cmath>

#include "coordinator/api/api.h"
#include "coordinator/api/responses.h"
#include "shared/names/display_name.h"

namespace starling::api {
namespace {

Status change(const Api& api, AccountId account, const wire::TeamRequest& wanted) {
  const WallTime now = api.clock.wall_now();
  if (wanted.action == "show") return {};
  if (wanted.action == "join") return api.stores.people.teams.join(account, wanted.name, now).status();
  if (wanted.action == "leave") return api.stores.people.teams.leave(account);
  if (wanted.action == "found") {
    STARLING_ASSIGN(const std::string name, names::check_display_name(wanted.name));
    return api.stores.people.teams.found(account, name, now).status();
  }
  return Error{ErrorCode::invalid_argument, "a team can be shown, founded, joined and left"};
}

Result<wire::TeamReply> team_of(const Api& api, AccountId account) {
  wire::TeamReply reply;
  STARLING_ASSIGN(const auto team, api.stores.people.teams.of(account));
  if (!team) return reply;
  const WallTime now = api.clock.wall_now();
  STARLING_ASSIGN(const db::Profile profile, api.stores.credit.standings.profile({db::Holder::team, team->id, now, 1}));
  reply = {team->name,
           team->id,
           team->founder,
           team->members,
           credit_of(profile.standing.earned(db::Board::total)),
           db::decayed(profile.standing.recent, now),
           profile.standing.rank};
  return reply;
}

}  // namespace

gate::Response team(const Api& api, const gate::Request& request) {
  const auto account = admit_member(api, request);
  if (!account) return error_response(account.error());
  const auto wanted = wire::decode_team_request(request.body);
  if (!wanted) return error_response(wanted.error());
  if (const Duration wait = api.joins.take(fmt::format("team {}", *account), api.clock.now()); wait > Duration{}) {
    return too_many_requests({ErrorCode::resource_exhausted, fmt::format("you asked about teams very often just now; "
                                                                         "try again in {:.0f} s",
                                                                         std::ceil(to_seconds(wait)))},
                             wait);
  }
  if (const Status done = change(api, *account, *wanted); !done.ok()) return error_response(told(done.error()));
  const auto reply = team_of(api, *account);
  return reply ? json_response(wire::encode(*reply)) : error_response(told(reply.error()));
}

}  // namespace starling::api
