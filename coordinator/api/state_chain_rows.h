// The proof of a run's state, between the store's rows and the coordinator's decisions, and the key that signs it.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "coordinator/core/types.h"
#include "db/stores/training_stores.h"
#include "shared/base/result.h"
#include "shared/manifest/signed_manifest.h"

namespace starling::api {

// Signs with the project's key, which may be replaced while nobody else uses this.
class ProjectSigner final : public core::StateSigner {
 public:
  explicit ProjectSigner(manifest::SigningKey key) : key_(std::move(key)) {}
  void replace(manifest::SigningKey key) { key_ = std::move(key); }
  [[nodiscard]] std::string sign(const wire::StateStatement& statement) const override;
  [[nodiscard]] SignatureBytes seal(const RunId& run_id, const wire::StateLink& link) const override;

 private:
  manifest::SigningKey key_;
};

// Returns the row of the growth's statement, if there is one.
std::optional<db::StateStatement> statement_row(const core::ChainGrowth& growth);

// Returns the chain as it is stored. corrupt for a statement or links that cannot be read.
Result<core::RecoveredChain> recover_chain(const db::StateChainStore& chains, const RunId& run_id);

// Logs it when the round that is stored last has another state than the chain leads to: somebody has changed the
// database.
void warn_of_broken_chain(const core::RecoveredRun& recovered);

}  // namespace starling::api
