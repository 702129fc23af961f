// The one call that volunteers make all the time, and the report that does not fit in it.
#include <fmt/core.h>

#include "coordinator/api/api.h"
#include "coordinator/api/responses.h"
#include "shared/manifest/signed_report.h"
#include "shared/protocol/heartbeat.h"
#include "shared/protocol/heartbeat_reply.h"
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

namespace {

// Removes reports from the first on that their sender has not signed. Returns why; ok if all are left. Signatures are
// checked here, outside the lock under which the run decides.
Status keep_authentic_reports(const PeerId& sender, wire::Heartbeat& heartbeat) {
  for (std::size_t i = 0; i < heartbeat.reports.size(); ++i) {
    Status checked = manifest::check_report_signature(heartbeat.run_id, sender, heartbeat.reports[i]);
    if (checked.ok()) continue;
    heartbeat.reports.resize(i);
    return checked;
  }
  return {};
}

}  // namespace

gate::Response heartbeat(const Api& api, const gate::Request& request) {
  const auto account = admit_member(api, request);
  if (!account) return error_response(account.error());
  auto told = wire::decode_heartbeat(request.body);
  if (!told) return error_response(told.error());
  if (told->protocol != wire::kProtocolVersion) {
    return error_response({ErrorCode::unsupported, fmt::format("this project speaks protocol {}, the client {}",
                                                               wire::kProtocolVersion, told->protocol)});
  }
  // A missing note of the visit is no reason to refuse it.
  (void)api.stores.people.accounts.touch_host(*request.peer, api.clock.wall_now()).ok();
  const Status authentic = keep_authentic_reports(*request.peer, *told);
  auto reply = api.run.heartbeat({*request.peer, *account, request.remote_address}, *told);
  if (reply && !authentic.ok()) reply->notice = authentic.error().message;
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
