#include "coordinator/api/api.h"

#include "coordinator/api/responses.h"
#include "shared/manifest/signed_manifest.h"

namespace starling::api {
namespace {

gate::Response ca_certificate(const Api& api) {
  gate::Response response;
  response.content_type = "application/x-pem-file";
  response.body = api.authority.certificate_pem();
  return response;
}

gate::Response run_envelope(const Api& api) {
  Result<std::string> envelope = api.run.envelope();
  return envelope ? json_response(std::move(*envelope)) : error_response(envelope.error());
}

}  // namespace

void add_routes(gate::Router& router, const Api& api) {
  const auto with_api = [&api](gate::Response (*handler)(const Api&, const gate::Request&)) {
    return [&api, handler](const gate::Request& request) { return handler(api, request); };
  };
  router.add("POST", "/v1/join", with_api(join));
  router.add("POST", "/v1/renew", with_api(renew));
  router.add("POST", "/v1/heartbeat", with_api(heartbeat));
  router.add("POST", "/v1/unusable-samples", with_api(unusable_samples));
  router.add("POST", "/v1/team", with_api(team));
  router.add("POST", "/v1/checkpoint", with_api(checkpoint));
  router.add("GET", "/v1/status", with_api(status));
  router.add_prefix("GET", "/v1/artefacts/", with_api(artefact));
  router.add("GET", "/v1/ca", [&api](const gate::Request&) { return ca_certificate(api); });
  router.add("GET", "/v1/run", [&api](const gate::Request&) { return run_envelope(api); });
  router.add("GET", "/healthz", [](const gate::Request&) { return json_response("{\"ok\":true}"); });
}

}  // namespace starling::api
