#include "coordinator/api/api.h"

#include <optional>
#include <utility>

#include "coordinator/api/responses.h"
#include "shared/manifest/signed_manifest.h"

namespace starling::api {
namespace {

gate::Response ca_certificate(const Api& api, const gate::Request&) {
  gate::Response response;
  response.content_type = "application/x-pem-file";
  response.body = api.authority.certificate_pem();
  return response;
}

gate::Response run_envelope(const Api& api, const gate::Request&) {
  Result<std::string> envelope = api.run.envelope();
  return envelope ? json_response(std::move(*envelope)) : error_response(envelope.error());
}

// Refuses the call if its member, or that one's account, calls far too often. Strangers are counted by the gate.
std::optional<gate::Response> refused(const Api& api, const gate::Request& request) {
  if (!request.peer) return std::nullopt;
  const TimePoint now = api.clock.now();
  const bool is_piece = request.path == "/v1/checkpoint";
  const auto account = is_piece ? std::nullopt : api.hosts.account_of(*request.peer);
  const Duration wait =
      is_piece ? api.calls.take_piece(*request.peer, now) : api.calls.take(*request.peer, account, now);
  if (wait == Duration{}) return std::nullopt;
  return too_many_requests({ErrorCode::resource_exhausted, "this computer, or its account, calls far too often"}, wait);
}

}  // namespace

void add_routes(gate::Router& router, const Api& api) {
  const auto with_api = [&api](gate::Response (*handler)(const Api&, const gate::Request&)) {
    return [&api, handler](const gate::Request& request) {
      if (auto answer = refused(api, request)) return *std::move(answer);
      return handler(api, request);
    };
  };
  router.add("POST", "/v1/join", with_api(join));
  router.add("POST", "/v1/renew", with_api(renew));
  router.add("POST", "/v1/heartbeat", with_api(heartbeat));
  router.add("POST", "/v1/unusable-samples", with_api(unusable_samples));
  router.add("POST", "/v1/team", with_api(team));
  router.add("POST", "/v1/checkpoint", with_api(checkpoint));
  router.add("GET", "/v1/status", with_api(status));
  router.add_prefix("GET", "/v1/artefacts/", with_api(artefact));
  router.add("GET", "/v1/ca", with_api(ca_certificate));
  router.add("GET", "/v1/run", with_api(run_envelope));
  router.add("GET", "/healthz", [](const gate::Request&) { return json_response("{\"ok\":true}"); });
}

}  // namespace starling::api
