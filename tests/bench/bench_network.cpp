#include "tests/bench/bench_network.h"

#include <fmt/core.h>

#include <utility>

#include "shared/base/files.h"
#include "shared/base/words.h"
#include "shared/crypto/certificates.h"

namespace starling::bench {
namespace {

constexpr std::size_t kPemMax = 64 * 1024;

}  // namespace

Result<std::vector<PeerId>> members_of(const AveragingChild& child) {
  std::vector<PeerId> members;
  for (int rank = 0; rank < child.bench.peers; ++rank) {
    STARLING_ASSIGN(const std::string pem, read_file(child.folder / fmt::format("{}.pem", rank), kPemMax));
    STARLING_ASSIGN(const auto info, crypto::read_certificate(pem));
    members.push_back(info.peer_id);
  }
  return members;
}

Result<std::unique_ptr<transport::PeerNetwork>> open_network(const AveragingChild& child, const Clock& clock,
                                                             transport::StateSource state_source) {
  const auto file = [&](const std::string& name) { return read_file(child.folder / name, kPemMax); };
  STARLING_ASSIGN(const std::string ca, file("ca.pem"));
  STARLING_ASSIGN(const std::string certificate, file(fmt::format("{}.pem", child.rank)));
  STARLING_ASSIGN(const std::string key_pem, file(fmt::format("{}.key", child.rank)));
  STARLING_ASSIGN(const auto key, crypto::PrivateKey::from_pem(key_pem));
  STARLING_ASSIGN(const auto tls, crypto::TlsContext::peer(ca, {certificate, key}));
  transport::PeerNetworkOptions options;
  options.listen_host = child.address;
  options.self = key.peer_id();
  options.run_id = kBenchRun;
  options.addresses = {.allow_loopback = true, .allow_private = true};
  if (!child.bench.congestion.empty()) options.congestion_control = child.bench.congestion;
  return transport::PeerNetwork::create(options, tls, clock, std::move(state_source));
}

std::vector<float> bench_state(std::int64_t floats) {
  std::vector<float> state(static_cast<std::size_t>(floats));
  for (std::size_t k = 0; k < state.size(); ++k) state[k] = bench_value(0, static_cast<std::int64_t>(k));
  return state;
}

wire::StateForm bench_form(const AveragingOptions& options) {
  constexpr std::int64_t kVectors = 3;
  return {static_cast<std::size_t>((options.state_floats + kVectors - 1) / kVectors),
          from_word<wire::MomentForm>(options.moments).value()};
}

}  // namespace starling::bench
