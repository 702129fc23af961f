// The proof of the current state that members are given (shared/protocol/state_proof.h): the project's newest
// statement, and a link for each round since. Pure: what signs is passed in.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coordinator/core/electorate.h"
#include "shared/base/clock.h"
#include "shared/protocol/state_proof.h"

namespace starling::core {

struct ResultClass;

// The project's signing key. It must be quick, because decisions wait for it.
class StateSigner {
 public:
  virtual ~StateSigner() = default;
  // Returns the statement as members take it.
  [[nodiscard]] virtual std::string sign(const wire::StateStatement& statement) const = 0;
  [[nodiscard]] virtual SignatureBytes seal(const RunId& run_id, const wire::StateLink& link) const = 0;
};

// The state that a round began with.
struct KnownState {
  RoundIndex round = 0;
  Digest state_digest;
};

// The chain as the store has it.
struct RecoveredChain {
  std::string statement;        // signed; empty: there is none
  wire::StateStatement stated;  // by it
  std::vector<wire::StateLink> links;
  // The state that it leads to; nothing without a statement.
  [[nodiscard]] std::optional<KnownState> newest() const;
};

// The growth by a decided round or another state, for the store. Empty texts: nothing.
struct ChainGrowth {
  std::string link;               // encoded; follows the statement before
  std::string statement;          // signed; earlier statements and links are not needed any more
  wire::StateStatement stated{};  // by it
};

// Returns the link of a decided round, without a seal; none if too few accounts have signed the result. `told`:
// everything that was reported about the round. `base`: the state with which it began.
std::optional<wire::StateLink> link_of(const SeatedGroup& group, const ResultClass& result,
                                       std::span<const ResultClass> told, const Digest& base);

class StateChainBook {
 public:
  // signer: null if states are not signed here.
  StateChainBook(RunId run_id, std::shared_ptr<const StateSigner> signer, RecoveredChain recovered);

  // The round is decided. Without a link the project states the new state by itself.
  ChainGrowth on_decided(WallTime wall, const wire::StateLink* link, RoundIndex round, const Digest& state_digest);
  // The run goes on from this state, which no votes lead to.
  ChainGrowth state(WallTime wall, wire::StatementCause cause, RoundIndex round, const Digest& state_digest);
  // Returns the proof; none if states are not signed here.
  [[nodiscard]] std::optional<wire::StateProof> proof() const;

 private:
  RunId run_id_;
  std::shared_ptr<const StateSigner> signer_;
  wire::StateProof proof_;
  std::size_t link_bytes_ = 0;  // the links' texts together
  std::int64_t serial_ = 0;     // the statement's
};

}  // namespace starling::core
