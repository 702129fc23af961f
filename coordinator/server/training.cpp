#include "coordinator/server/training.h"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <array>
#include <utility>

#include "coordinator/server/arguments.h"
#include "shared/base/log.h"
#include "shared/reach/prober.h"

namespace starling::server {
namespace {

constexpr double kBytesPerMbit = 1e6 / 8;

Result<core::CoordinatorOptions> core_options(const ServeOptions& options, const PeerId& self) {
  core::CoordinatorOptions core;
  core.dial_back = options.dial_back;
  if (options.relay.empty()) return core;
  auto relay = parse_endpoint(options.relay);
  if (!relay) return relay.error().prefixed("--relay");
  std::array<std::uint8_t, sizeof(in6_addr)> address{};
  if (inet_pton(AF_INET, relay->host.c_str(), address.data()) != 1 &&
      inet_pton(AF_INET6, relay->host.c_str(), address.data()) != 1) {
    return Error{ErrorCode::invalid_argument, fmt::format("--relay: '{}' is no IP address", relay->host)};
  }
  core.relay = {self, relay->host, relay->port};
  return core;
}

// The key that signs at this moment: `keys rotate` may have replaced the one of the start.
Result<manifest::SigningKey> signing_key(const ProjectFiles& files) {
  STARLING_ASSIGN(const Project project, load_project(files.directory));
  return manifest::SigningKey(project.manifest_key, project.key_certificate);
}

// The TLS identity that this computer shows on volunteers' ports and at its relay.
Result<crypto::TlsContext> as_peer(const Project& project, const ServerIdentity& identity) {
  return crypto::TlsContext::peer(project.authority.certificate_pem(), identity.volunteers);
}

Status start_dialling_back(api::RunService& run, const ServeOptions& options, const crypto::TlsContext& tls,
                           const Clock& clock) {
  if (!options.dial_back) return {};
  STARLING_ASSIGN(auto prober, reach::Prober::create(tls, clock));
  run.dial_back_by(std::move(prober));
  return {};
}

// The operator's own relay; nothing when none is asked for. It listens on all addresses, because the address that
// volunteers reach may be translated on its way.
Result<std::unique_ptr<reach::RelayServer>> open_relay(const ServeOptions& options, int port,
                                                       reach::RelayServer::Parts parts) {
  if (options.relay.empty()) return std::unique_ptr<reach::RelayServer>();
  auto opened =
      reach::RelayServer::create("::", port, std::move(parts), {.bytes_per_s = options.relay_mbit_s * kBytesPerMbit});
  if (!opened) return opened.error().prefixed("--relay");
  log_info("a relay for volunteers that nobody can dial is open at {}", options.relay);
  return opened;
}

}  // namespace

Training::Training(const TrainingParts& parts, const core::CoordinatorOptions& options)
    : hosts(parts.stores.people.accounts, parts.clock),
      run({parts.stores, hosts, parts.clock, parts.project.root,
           [files = parts.project.files] { return signing_key(files); }},
          options),
      checkpoints(parts.project.files.artefacts()) {}

Result<std::unique_ptr<Training>> open_training(const TrainingParts& parts) {
  STARLING_ASSIGN(const auto tls, as_peer(parts.project, parts.identity));
  STARLING_ASSIGN(const auto options, core_options(parts.options, parts.identity.volunteers.key.peer_id()));
  auto training = std::make_unique<Training>(parts, options);
  STARLING_TRY(start_dialling_back(training->run, parts.options, tls, parts.clock));
  STARLING_ASSIGN(training->relay, open_relay(parts.options, options.relay.port, {tls, parts.clock, training->run}));
  return training;
}

}  // namespace starling::server
