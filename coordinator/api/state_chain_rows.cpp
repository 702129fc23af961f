#include "coordinator/api/state_chain_rows.h"

#include "shared/base/log.h"
#include "shared/manifest/signed_statement.h"

namespace starling::api {

std::string ProjectSigner::sign(const wire::StateStatement& statement) const {
  return manifest::sign_statement(statement, key_);
}

SignatureBytes ProjectSigner::seal(const RunId& run_id, const wire::StateLink& link) const {
  return manifest::seal_link(run_id, link, key_.key);
}

std::optional<db::StateStatement> statement_row(const core::ChainGrowth& growth) {
  if (growth.statement.empty()) return std::nullopt;
  return db::StateStatement{growth.stated.round, growth.stated.serial, growth.statement};
}

Result<core::RecoveredChain> recover_chain(const db::StateChainStore& chains, const RunId& run_id) {
  STARLING_ASSIGN(const db::StateChain stored, chains.read(run_id));
  core::RecoveredChain chain;
  if (!stored.statement) return chain;
  chain.statement = stored.statement->text;
  STARLING_ASSIGN(chain.stated, manifest::decode_statement(chain.statement));
  for (const std::string& text : stored.links) {
    STARLING_ASSIGN(wire::StateLink link, wire::decode_state_link(text));
    chain.links.push_back(std::move(link));
  }
  return chain;
}

void warn_of_broken_chain(const core::RecoveredRun& recovered) {
  if (recovered.chain.links.empty()) return;
  const wire::StateLink& last = recovered.chain.links.back();
  if (last.round + 1 == recovered.round && last.state_digest == recovered.state_digest) return;
  log_error("the database has another state of round {} than the one that members have signed, which counts",
            recovered.round);
}

}  // namespace starling::api
