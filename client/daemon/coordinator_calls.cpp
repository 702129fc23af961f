#include "client/daemon/coordinator_calls.h"

#include <fmt/core.h>

#include <optional>
#include <utility>

#include "shared/base/log.h"
#include "shared/base/version.h"
#include "shared/crypto/certificates.h"
#include "shared/crypto/tls.h"
#include "shared/protocol/heartbeat.h"
#include "shared/protocol/heartbeat_reply.h"
#include "shared/protocol/join.h"
#include "shared/wire/web_address.h"

namespace starling::daemon {
Result<storage::Project> join_project(const manifest::JoinLink& link, const Applicant& applicant,
                                      const storage::HostIdentity& host, CorrectedClock& clock, net::Line* line) {
  const std::string where = "join the project at " + wire::format_host_and_port(link.host, link.port);
  const net::Endpoint endpoint{link.host, link.port};
  auto ca_pem = net::fetch_pinned_ca(endpoint, link.ca_fingerprint, {.line = line});
  if (!ca_pem.ok()) return ca_pem.error().prefixed(where);
  STARLING_ASSIGN(crypto::TlsContext tls, crypto::TlsContext::coordinator_client(*ca_pem, std::nullopt));
  net::HttpClient client(endpoint, std::move(tls), {.line = line});

  wire::JoinRequest request;
  request.client_version = kVersion;
  request.invite = link.invite;
  request.display_name = applicant.name;
  request.email = applicant.email;
  request.password = applicant.password;
  request.csr_pem = crypto::make_csr(host.key);
  request.device_token = storage::device_token(host.secret, *ca_pem);
  auto response = client.post_json("/v1/join", wire::encode(request));
  if (!response.ok()) return response.error().prefixed(where);
  auto body = net::body_of(std::move(*response));
  if (!body.ok()) return body.error().prefixed(where);
  auto reply = wire::decode_join_reply(*body);
  if (!reply.ok()) return reply.error().prefixed(where);
  clock.set_wall_time(reply->server_unix_ms);
  // A wrong pin would lock this client out of the project's work for good, so it is checked now.
  if (auto pinned = crypto::PublicKey::from_pem(reply->manifest_public_key); !pinned.ok()) {
    return pinned.error().prefixed(where + ": the project's manifest key");
  }
  storage::Project project;
  project.host = link.host;
  project.port = link.port;
  const auto whole = [](const std::string& name, const std::string& shortened) {
    return name.empty() ? shortened : name;
  };
  project.name = whole(reply->whole_project_name, reply->project_name);
  project.display_name = whole(reply->whole_display_name, whole(reply->display_name, applicant.name));
  project.account_id = reply->account_id;
  project.ca_pem = std::move(*ca_pem);
  project.device_token = std::move(request.device_token);
  project.certificate.renew(reply->certificate_pem);
  project.manifest_public_key = reply->manifest_public_key;
  return project;
}

Result<std::shared_ptr<net::HttpClient>> CoordinatorCalls::make_client(const storage::Project& project,
                                                                       const crypto::PrivateKey& key, net::Line* line) {
  const crypto::TlsIdentity identity{project.certificate.pem(), key};
  STARLING_ASSIGN(crypto::TlsContext tls, crypto::TlsContext::coordinator_client(project.ca_pem, identity));
  return std::make_shared<net::HttpClient>(net::Endpoint{project.host, project.port}, std::move(tls),
                                           net::HttpOptions{.line = line});
}

Result<std::unique_ptr<CoordinatorCalls>> CoordinatorCalls::create(const storage::Project& project,
                                                                   const crypto::PrivateKey& key, CorrectedClock& clock,
                                                                   net::Line* line) {
  STARLING_ASSIGN(auto client, make_client(project, key, line));
  return std::unique_ptr<CoordinatorCalls>(new CoordinatorCalls(project, key, clock, std::move(client), line));
}

CoordinatorCalls::CoordinatorCalls(storage::Project project, crypto::PrivateKey key, CorrectedClock& clock,
                                   std::shared_ptr<net::HttpClient> client, net::Line* line)
    : project_(std::move(project)),
      key_(std::move(key)),
      clock_(clock),
      line_(line),
      client_(std::move(client)),
      certificate_pem_(project_.certificate.pem()),
      heartbeat_deadline_(kHeartbeatDeadline) {
  expose(client_);
}

void CoordinatorCalls::expose(std::shared_ptr<net::HttpClient> client) {
  const MutexLock lock(mutex_);
  exposed_ = std::move(client);
  if (cancelled_) exposed_->cancel();
}

void CoordinatorCalls::cancel() {
  const MutexLock lock(mutex_);
  cancelled_ = true;
  exposed_->cancel();
}

// Without success, the call that follows is made with what is here: the coordinator may be away, or judge otherwise.
void CoordinatorCalls::renew_when_due() {
  if (clock_.now() < renewal_not_before_ || !project_.certificate.is_due(clock_.wall_now())) return;
  const auto fresh = renew_certificate();
  if (!fresh.ok()) log_debug("renew this computer's certificate before its end: {}", fresh.error().message);
}

Status CoordinatorCalls::use_newest_certificate() {
  renew_when_due();
  std::string newest = project_.certificate.pem();
  if (newest == certificate_pem_) return {};
  STARLING_ASSIGN(auto renewed, make_client(project_, key_, line_));
  earlier_wire_bytes_ += client_->wire_bytes();
  client_ = std::move(renewed);
  certificate_pem_ = std::move(newest);
  expose(client_);
  return {};
}

Result<wire::HeartbeatReply> CoordinatorCalls::heartbeat(const wire::Heartbeat& heartbeat) {
  STARLING_TRY(use_newest_certificate());
  const TimePoint begun = clock_.now();
  client_->set_deadline(heartbeat_deadline_.allowed());
  auto response = client_->post_json("/v1/heartbeat", wire::encode(heartbeat));
  client_->set_deadline(net::HttpOptions().deadline);
  count();
  if (response.ok()) heartbeat_deadline_.observe(clock_.now() - begun);
  if (!response.ok() && response.error().code == ErrorCode::deadline_exceeded) heartbeat_deadline_.on_timeout();
  if (!response.ok()) return response.error();
  STARLING_ASSIGN(const std::string body, net::body_of(std::move(*response)));
  auto reply = wire::decode_heartbeat_reply(body);
  if (reply.ok() && reply->server_unix_ms > 0) clock_.set_wall_time(reply->server_unix_ms);
  return reply;
}

Status CoordinatorCalls::report_unusable(const wire::UnusableSamples& samples) {
  STARLING_TRY(use_newest_certificate());
  auto response = client_->post_json("/v1/unusable-samples", wire::encode(samples));
  count();
  if (!response.ok()) return response.error();
  return net::body_of(std::move(*response)).status();
}

Result<std::string> CoordinatorCalls::renew_certificate() {
  // The handshake would refuse an expired certificate: this one call goes without, the request is signed.
  STARLING_ASSIGN(crypto::TlsContext tls, crypto::TlsContext::coordinator_client(project_.ca_pem, std::nullopt));
  auto anonymous = std::make_shared<net::HttpClient>(net::Endpoint{project_.host, project_.port}, std::move(tls),
                                                     net::HttpOptions{.line = line_});
  expose(anonymous);
  auto certificate_pem = renew_over(*anonymous);
  renewal_not_before_ = clock_.now() + kRenewalRetry;  // from its end on: it may have waited for its whole deadline
  earlier_wire_bytes_ += anonymous->wire_bytes();
  expose(client_);
  return certificate_pem;
}

Result<std::string> CoordinatorCalls::renew_over(net::HttpClient& anonymous) {
  const wire::RenewRequest request{crypto::make_csr(key_), project_.device_token};
  STARLING_ASSIGN(net::HttpResponse response, anonymous.post_json("/v1/renew", wire::encode(request)));
  STARLING_ASSIGN(const std::string body, net::body_of(std::move(response)));
  STARLING_ASSIGN(wire::RenewReply reply, wire::decode_renew_reply(body));
  clock_.set_wall_time(reply.server_unix_ms);
  project_.certificate.renew(reply.certificate_pem);
  return reply.certificate_pem;
}

Result<manifest::SignedManifest> CoordinatorCalls::run_manifest() {
  STARLING_TRY(use_newest_certificate());
  STARLING_ASSIGN(net::HttpResponse response, client_->get("/v1/run"));
  STARLING_ASSIGN(const std::string body, net::body_of(std::move(response)));
  return manifest::decode_envelope(body);
}

Result<wire::CheckpointReply> CoordinatorCalls::send_checkpoint(const RunId& cell, RoundIndex round,
                                                                const Digest& state_digest, std::int64_t offset,
                                                                std::string_view piece) {
  std::string path = fmt::format("/v1/checkpoint?round={}&digest={}&offset={}", round, state_digest.hex(), offset);
  if (!cell.empty()) path += "&run=" + cell;
  STARLING_TRY(use_newest_certificate());
  auto response = client_->post_bytes(path, piece);
  count();
  if (!response.ok()) return response.error();
  STARLING_ASSIGN(const std::string body, net::body_of(std::move(*response)));
  return wire::decode_checkpoint_reply(body);
}

Status CoordinatorCalls::fetch_artefact(const wire::Artefact& artefact, const std::filesystem::path& destination,
                                        std::function<bool(std::int64_t)> progress) {
  net::Download download;
  download.path = "/v1/artefacts/" + artefact.sha256.hex();
  download.sha256 = artefact.sha256;
  download.bytes = artefact.bytes;
  download.destination = destination;
  download.progress = [this, progress = std::move(progress)](std::int64_t bytes_done) {
    count();
    return progress(bytes_done);
  };
  STARLING_TRY(use_newest_certificate());
  Status status = client_->download_artefact(download);
  count();
  return status;
}

}  // namespace starling::daemon
