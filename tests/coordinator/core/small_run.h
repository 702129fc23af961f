// A small run, its states, and its members' names, for tests of the coordinator.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>

#include "coordinator/core/run_coordinator.h"

namespace starling::core::testing {

PeerId peer_id(int number);
Digest state_after(const Digest& state, const GroupId& group);
Digest first_state();
// The proof of a member that holds this state.
Digest holding_proof(const Hash128& challenge, const Digest& state);
wire::RunManifest small_manifest();
// A run as recovered from a store with rounds below `round`.
RecoveredRun running_run(RoundIndex round = 0, Digest digest = {});

// Everybody belongs to the project; account = number of the peer + 1000, unless `accounts` says otherwise.
class OpenHosts final : public KnownHosts {
 public:
  [[nodiscard]] std::optional<AccountId> account_of(const PeerId& peer) const override;
  [[nodiscard]] AccountStanding standing_of(AccountId account) const override;
  // By PlainSigner.
  [[nodiscard]] bool has_signed(const PeerId& peer, std::span<const std::uint8_t> text,
                                const PeerSignature& signature) const override;
  std::set<AccountId> on_probation;  // accounts without a voice
  std::set<PeerId> unknown;
  std::map<PeerId, AccountId> accounts;
};

}  // namespace starling::core::testing
