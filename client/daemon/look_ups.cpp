#include "client/daemon/look_ups.h"

#include <fmt/core.h>

#include <algorithm>

#include "client/daemon/coordinator_calls.h"
#include "client/storage/checkpoint_store.h"
#include "shared/crypto/tls.h"
#include "shared/manifest/join_link.h"
#include "shared/manifest/signed_manifest.h"
#include "shared/net/http_client.h"
#include "shared/net/url.h"
#include "shared/run/cells.h"
#include "shared/run/model_layout.h"
#include "shared/run/round_parts.h"
#include "shared/swarm/hourly_traffic.h"
#include "shared/wire/json_reader.h"
#include "shared/wire/web_address.h"

namespace starling::daemon {
namespace {

constexpr Duration kFirstContact = std::chrono::seconds(5);  // cannot be cancelled

Result<std::string> get(net::HttpClient& client, const std::string& path) {
  STARLING_ASSIGN(net::HttpResponse response, client.get(path));
  return net::body_of(std::move(response));
}

// The manifest's signature is not checked: its key comes with joining. The connection is the project's own.
void describe_run(const wire::RunManifest& manifest, wire::ProjectPreview& preview) {
  const auto floats = static_cast<std::int64_t>(wire::parameter_count(manifest.model));
  // Everybody has the trunk of a model in cells; how much of the rest is each volunteer's choice.
  const wire::RunManifest held = wire::has_cells(manifest.model) ? wire::piece_of(manifest, wire::kTrunk) : manifest;
  preview.has_run = true;
  preview.run_title = manifest.title;
  preview.parameters = floats;
  preview.data_bytes = wire::data_bytes_held(manifest.data);
  preview.disk_bytes = preview.data_bytes +
                       static_cast<std::int64_t>(storage::kCheckpointsKept * sizeof(float) * wire::state_size(held));
  // A member sends its contribution to the others' parts, and the results of its own part to each of them; so both
  // come.
  const wire::RoundTraffic traffic = wire::round_traffic(held);
  preview.bytes_per_round = traffic.contribution_bytes() + traffic.result_bytes();
}

// Reads {"state","swarm_size","samples_per_s","volunteers","validation":{"bits_per_byte"}} of the coordinator's
// /v1/status.
Status read_run_status(std::string_view json, const wire::RunManifest& run, wire::ProjectPreview& preview) {
  constexpr std::int64_t kCountMax = wire::kMessageCountMax;
  STARLING_ASSIGN(const wire::JsonDocument document, wire::JsonDocument::parse(json, wire::kReplyBytesMax));
  wire::JsonReader in = document.root();
  in.text("state", preview.run_state, wire::kNameBytesMax);
  in.integer("swarm_size", preview.swarm_size, 0, kCountMax);
  swarm::SwarmPace pace{.members = static_cast<double>(preview.swarm_size)};
  in.number("samples_per_s", pace.samples_per_s, 0, wire::kMessageRateMax);
  in.integer("volunteers", preview.volunteers, 0, kCountMax);
  if (in.present("validation")) {
    in.object("validation", [&](wire::JsonReader& validation) {
      validation.number("bits_per_byte", preview.bits_per_byte, 0, wire::kMessageRateMax);
    });
  }
  const double hour = swarm::hourly_traffic(run, pace).all();
  preview.bytes_per_hour = static_cast<std::int64_t>(std::min(hour, static_cast<double>(kCountMax)));
  return in.status();
}

Status ask_about(net::HttpClient& client, wire::ProjectPreview& preview) {
  STARLING_ASSIGN(const std::string board_json, get(client, "/v1/leaderboard.json?per_page=1"));
  STARLING_ASSIGN(const wire::LeaderboardView board, wire::decode_leaderboard(board_json));
  preview.project = board.project;
  const auto envelope_json = get(client, "/v1/run");
  if (!envelope_json.ok()) {
    return envelope_json.error().code == ErrorCode::not_found ? Status() : Status(envelope_json.error());
  }
  STARLING_ASSIGN(const manifest::SignedManifest envelope, manifest::decode_envelope(*envelope_json));
  STARLING_ASSIGN(const wire::RunManifest run, wire::decode_manifest(envelope.json));
  describe_run(run, preview);
  STARLING_ASSIGN(const std::string status_json, get(client, "/v1/status"));
  return read_run_status(status_json, run, preview);
}

}  // namespace

class LookUps::Call {
 public:
  Call(LookUps& owner, const net::Endpoint& endpoint, crypto::TlsContext tls)
      : owner_(owner), client_(endpoint, std::move(tls), {.line = &owner.line_}) {
    const MutexLock lock(owner_.mutex_);
    owner_.clients_.push_back(&client_);
    if (owner_.cancelled_) client_.cancel();
  }
  ~Call() {
    owner_.wire_bytes_ += client_.wire_bytes();
    const MutexLock lock(owner_.mutex_);
    std::erase(owner_.clients_, &client_);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  net::HttpClient& client() { return client_; }

 private:
  LookUps& owner_;
  net::HttpClient client_;
};

void LookUps::cancel() {
  const MutexLock lock(mutex_);
  cancelled_ = true;
  for (net::HttpClient* client : clients_) client->cancel();
}

Result<wire::ProjectPreview> LookUps::preview(const std::string& link_text) {
  STARLING_ASSIGN(const manifest::JoinLink link, manifest::parse_join_link(manifest::find_join_link(link_text)));
  const std::string address = wire::format_host_and_port(link.host, link.port);
  const std::string where = "ask the project at " + address;
  const net::Endpoint endpoint{link.host, link.port};
  auto ca_pem = net::fetch_pinned_ca(endpoint, link.ca_fingerprint, {.deadline = kFirstContact, .line = &line_});
  if (!ca_pem.ok()) return ca_pem.error().prefixed(where);
  STARLING_ASSIGN(crypto::TlsContext tls, crypto::TlsContext::coordinator_client(*ca_pem, std::nullopt));
  Call call(*this, endpoint, std::move(tls));
  wire::ProjectPreview preview;
  preview.address = address;
  preview.fingerprint = link.ca_fingerprint.hex();
  if (const Status asked = ask_about(call.client(), preview); !asked.ok()) return asked.error().prefixed(where);
  return preview;
}

Result<wire::LeaderboardView> LookUps::leaderboard(const storage::Project& project,
                                                   const wire::GetLeaderboard& request) {
  STARLING_ASSIGN(crypto::TlsContext tls, crypto::TlsContext::coordinator_client(project.ca_pem, std::nullopt));
  Call call(*this, {project.host, project.port}, std::move(tls));
  const auto json =
      get(call.client(), fmt::format("/v1/leaderboard.json?per_page={}&page={}&sort={}&q={}&me={}",
                                     wire::kStandingsShownMax, request.page, net::url_encode(request.sort),
                                     net::url_encode(request.search), net::url_encode(project.display_name)));
  if (!json.ok()) return json.error().prefixed("ask for the leaderboard");
  return wire::decode_leaderboard(*json);
}

// Nothing else may have renewed it: the project's training may be paused, or have had no turn yet.
Status LookUps::ensure_valid_certificate(const storage::Project& project, const crypto::PrivateKey& key) {
  const WallTime now = clock_.wall_now();
  if (!project.certificate.is_due(now)) return {};
  STARLING_ASSIGN(const auto calls, CoordinatorCalls::create(project, key, clock_, &line_));
  const auto fresh = calls->renew_certificate();
  wire_bytes_ += calls->wire_bytes();
  if (fresh.ok() || !project.certificate.has_run_out(now)) return {};
  return fresh.error().prefixed("renew this computer's certificate");
}

Result<wire::TeamReply> LookUps::team(const storage::Project& project, const crypto::PrivateKey& key,
                                      const wire::ArrangeTeam& request) {
  STARLING_TRY(ensure_valid_certificate(project, key));
  const crypto::TlsIdentity identity{project.certificate.pem(), key};
  STARLING_ASSIGN(crypto::TlsContext tls, crypto::TlsContext::coordinator_client(project.ca_pem, identity));
  Call call(*this, {project.host, project.port}, std::move(tls));
  auto response = call.client().post_json("/v1/team", wire::encode(wire::TeamRequest{request.action, request.name}));
  if (!response.ok()) return response.error().prefixed("ask about teams");
  STARLING_ASSIGN(const std::string body, net::body_of(std::move(*response)));
  return wire::decode_team_reply(body);
}

}  // namespace starling::daemon
