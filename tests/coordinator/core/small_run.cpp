#include "tests/coordinator/core/small_run.h"

#include "tests/support/plain_signer.h"

namespace starling::core::testing {

PeerId peer_id(int number) {
  PeerId id;
  id.bytes[0] = static_cast<std::uint8_t>(number * 37);
  id.bytes[1] = static_cast<std::uint8_t>(number >> 8);
  id.bytes[30] = static_cast<std::uint8_t>(number >> 8);
  id.bytes[31] = static_cast<std::uint8_t>(number);
  return id;
}

Digest first_state() {
  Digest digest;
  digest.bytes.fill(1);
  return digest;
}

Digest holding_proof(const Hash128& challenge, const Digest& state) {
  Digest proof = state;
  for (std::size_t i = 0; i < challenge.bytes.size(); ++i) proof.bytes[i] ^= challenge.bytes[i];
  return proof;
}

Digest state_after(const Digest& state, const GroupId& group) {
  Digest next = state;
  for (std::size_t i = 0; i < group.bytes.size(); ++i) {
    next.bytes[i] = static_cast<std::uint8_t>(next.bytes[i] * 31 + group.bytes[i] + 1);
  }
  return next;
}

wire::RunManifest small_manifest() {
  wire::RunManifest manifest;
  manifest.run_id = "test";
  manifest.target_batch_size = 60;
  manifest.peers_max = 64;
  manifest.flops_per_sample = 1e9;
  manifest.initial_state_digest = first_state();
  return manifest;
}

bool OpenHosts::has_signed(const PeerId& peer, std::span<const std::uint8_t> text,
                           const PeerSignature& signature) const {
  return starling::testing::PlainSigner(peer).verify(text, signature, peer).ok();
}

AccountStanding OpenHosts::standing_of(AccountId account) const {
  const bool established = !on_probation.contains(account);
  return {established, established};
}

std::optional<AccountId> OpenHosts::account_of(const PeerId& peer) const {
  if (unknown.contains(peer)) return std::nullopt;
  if (const auto known = accounts.find(peer); known != accounts.end()) return known->second;
  return 1000 + peer.bytes[31] + 256 * peer.bytes[30];
}

RecoveredRun running_run(RoundIndex round, Digest digest) {
  RecoveredRun recovered;
  recovered.state = wire::RunState::running;
  recovered.round = round;
  recovered.state_digest = digest;
  return recovered;
}

}  // namespace starling::core::testing
