#include "tests/bench/bench_network.h"

#include <fmt/core.h>

#include <utility>

#include "shared/base/files.h"
#include "shared/base/words.h"
#include "shared/crypto/certificates.h"
#include "shared/crypto/keys.h"

namespace starling::bench {
namespace {

constexpr std::size_t kPemMax = 64 * 1024;

}  // namespace

BenchHome home_of(const AveragingChild& child) {
  return {child.rank, child.bench.peers, child.address, child.folder, child.bench.congestion};
}

Status write_identities(const std::filesystem::path& folder, int peers) {
  const WallTime now = SystemClock().wall_now();
  STARLING_ASSIGN(const auto authority, crypto::CertificateAuthority::create("bench", now));
  STARLING_TRY(write_file_atomically(folder / "ca.pem", authority.certificate_pem()));
  for (int rank = 0; rank < peers; ++rank) {
    const auto key = crypto::PrivateKey::generate();
    crypto::IssueOptions issue;
    issue.now = now;
    STARLING_ASSIGN(const std::string certificate, authority.issue(crypto::make_csr(key), issue));
    STARLING_TRY(write_file_atomically(folder / fmt::format("{}.key", rank), key.to_pem(), {.mode = 0600}));
    STARLING_TRY(write_file_atomically(folder / fmt::format("{}.pem", rank), certificate));
  }
  return {};
}

Result<std::vector<PeerId>> members_of(const BenchHome& home) {
  std::vector<PeerId> members;
  for (int rank = 0; rank < home.peers; ++rank) {
    STARLING_ASSIGN(const std::string pem, read_file(home.folder / fmt::format("{}.pem", rank), kPemMax));
    STARLING_ASSIGN(const auto info, crypto::read_certificate(pem));
    members.push_back(info.peer_id);
  }
  return members;
}

Result<std::unique_ptr<transport::PeerNetwork>> open_network(const BenchHome& home, const Clock& clock,
                                                             transport::StateSource state_source) {
  const auto file = [&](const std::string& name) { return read_file(home.folder / name, kPemMax); };
  STARLING_ASSIGN(const std::string ca, file("ca.pem"));
  STARLING_ASSIGN(const std::string certificate, file(fmt::format("{}.pem", home.rank)));
  STARLING_ASSIGN(const std::string key_pem, file(fmt::format("{}.key", home.rank)));
  STARLING_ASSIGN(const auto key, crypto::PrivateKey::from_pem(key_pem));
  STARLING_ASSIGN(const auto tls, crypto::TlsContext::peer(ca, {certificate, key}));
  transport::PeerNetworkOptions options;
  options.listen_host = home.address;
  options.self = key.peer_id();
  options.run_id = kBenchRun;
  options.addresses = {.allow_loopback = true, .allow_private = true};
  if (!home.congestion.empty()) options.congestion_control = home.congestion;
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
