// The one call that volunteers make all the time, and the report that does not fit in it.
#include <fmt/core.h>

#include "coordinator/api/api.h"
#include "coordinator/api/responses.h"
#include "shared/protocol/heartbeat.h"
#include "shared/protocol/limits.h"
#include "shared/protocol/unusable_samples.h"

namespace starling::api {

Result<AccountId> admit_member(const Api& api, const gate::Request& request) {
  if (!request.peer) {
    return Error{ErrorCode::unauthenticated, "this call needs the certificate that joining gives"};
  }
  const auto account = api.hosts.admit(*request.peer);
  if (!account) return told(account.error());
  STARLING_TRY(api.accounts.parts().bans.admit(*account, *request.peer, request.remote_address));
  return *account;
}

gate::Response heartbeat(const Api& api, const gate::Request& request) {
  const auto account = admit_member(api, request);
  if (!account) return error_response(account.error());
  const auto told = wire::decode_heartbeat(request.body);
  if (!told) return error_response(told.error());
  if (told->protocol != wire::kProtocolVersion) {
    return error_response({ErrorCode::unsupported, fmt::format("this project speaks protocol {}, the client {}",
                                                               wire::kProtocolVersion, told->protocol)});
  }
  // A missing note of the visit is no reason to refuse it.
  (void)api.stores.people.accounts.touch_host(*request.peer, api.clock.wall_now()).ok();
  auto reply = api.run.heartbeat({*request.peer, *account, request.remote_address}, *told);
  if (reply && reply->notice.empty()) {
    if (const auto maintenance = api.maintenance.shown()) reply->notice = operations::notice_of(*maintenance);
  }
  if (reply) reply->named.revoked = api.denied.names();
  return reply ? json_response(wire::encode(*reply)) : error_response(reply.error());
}

gate::Response unusable_samples(const Api& api, const gate::Request& request) {
  const auto account = admit_member(api, request);
  if (!account) return error_response(account.error());
  const auto told = wire::decode_unusable_samples(request.body);
  if (!told) return error_response(told.error());
  const Status taken = api.run.unusable_samples({*request.peer, *account, request.remote_address}, *told);
  return taken.ok() ? json_response("{}") : error_response(taken.error());
}

}  // namespace starling::api
