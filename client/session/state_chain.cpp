#include "client/session/state_chain.h"

#include <fmt/core.h>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "client/session/retry.h"
#include "shared/base/log.h"
#include "shared/protocol/heartbeat_reply.h"

namespace starling::session {
namespace {

constexpr Duration kAskAgainMax = std::chrono::minutes(1);

}  // namespace

StateChain::StateChain(StateTrust trust) : trust_(std::move(trust)), wants_proof_(trust_.verify != nullptr) {}

StateChain::Verdict StateChain::judge(TimePoint now, const Digest& held, const wire::HeartbeatReply& reply) {
  if (trust_.verify == nullptr) return Verdict::known;
  const bool asked = std::exchange(asked_, false);
  const StateName named{reply.round, reply.state_digest};
  if (named.digest != held && named != proven_ && named != trust_.known.state) {
    if (!asked) {
      wants_proof_ = now >= ask_not_before_;
      return refusal_.empty() ? Verdict::unknown : Verdict::refused;
    }
    wants_proof_ = false;
    if (const Status admitted = admit(named, reply.kept.state_proof); !admitted.ok()) {
      ask_not_before_ = now + retry_delay(++refusals_, kAskAgainMax);
      refusal_ = fmt::format(
          "the coordinator names a state of round {} that is not proven, so it is not loaded: {}. Tell the project's "
          "operator",
          named.round, admitted.error().message);
      const bool told = refusal_ == logged_refusal_ ||
                        refused_.warning(now, fmt::format("refused: {} ({})", refusal_, named.digest.brief()));
      if (told) logged_refusal_ = refusal_;
      return Verdict::refused;
    }
  }
  wants_proof_ = false;
  refusals_ = 0;
  refusal_.clear();
  logged_refusal_.clear();
  settle(named, reply);
  return Verdict::known;
}

Status StateChain::admit(const StateName& named, const std::optional<wire::StateProof>& proof) {
  if (!proof) return Error{ErrorCode::permission_denied, "it gives no proof"};
  if (wire::encode(*proof).size() > wire::kStateProofBytesMax) {
    return Error{ErrorCode::invalid_argument, "the proof is too long"};
  }
  STARLING_ASSIGN(const manifest::ProvenStates proven, trust_.verify(*proof));
  const manifest::ProvenState& newest = proven.path.back();
  if (newest.round != named.round || newest.digest != named.digest) {
    return Error{ErrorCode::permission_denied,
                 fmt::format("the signatures lead to another state, of round {}", newest.round)};
  }
  STARLING_TRY(agree(proven));
  path_ = proven.path;
  if (proven.statement.serial > trust_.known.serial) {
    log_info("the project states the state of round {} ({}); {} round(s) since are signed by members",
             proven.statement.round, wire::to_string(proven.statement.cause), proven.path.size() - 1);
    trust_.known.serial = proven.statement.serial;
    remember();
  }
  return {};
}

// Checks a proof against what is known: it leads on from there, unless a newer statement says that the project went
// back, or that a state was lost, which replaces the states of its round and of later ones.
Status StateChain::agree(const manifest::ProvenStates& proven) {
  const wire::StateStatement& statement = proven.statement;
  StateName& known = trust_.known.state;
  if (statement.serial < trust_.known.serial) {
    return Error{ErrorCode::permission_denied, "the project's statement is older than one that was seen here"};
  }
  if (known.digest.is_zero()) return {};
  if (statement.serial > trust_.known.serial && statement.round <= known.round &&
      (statement.cause == wire::StatementCause::loss || statement.cause == wire::StatementCause::rollback)) {
    known = {statement.round, statement.state_digest};
    return {};
  }
  if (const RoundIndex newest = proven.path.back().round; newest < known.round) {
    return Error{
        ErrorCode::permission_denied,
        fmt::format("the signatures end in round {}, but a state of round {} is known here", newest, known.round)};
  }
  const bool contradicts = std::any_of(proven.path.begin(), proven.path.end(), [&](const manifest::ProvenState& state) {
    return state.round == known.round && state.digest != known.digest;
  });
  if (!contradicts) return {};
  return Error{ErrorCode::permission_denied,
               fmt::format("the proof contradicts the state of round {}, which is known here", known.round)};
}

// Only a state whose rounds the coordinator has stored stays known: the others may still be given up.
void StateChain::settle(const StateName& named, const wire::HeartbeatReply& reply) {
  proven_ = named;
  const bool newer = trust_.known.state.digest.is_zero() || named.round > trust_.known.state.round;
  if (newer && reply.acknowledged_rounds >= reply.round) trust_.known.state = named;
}

std::optional<Digest> StateChain::result_of(RoundIndex round) const {
  for (std::size_t i = 1; i < path_.size(); ++i) {
    if (path_[i].round == round + 1) return path_[i].digest;
  }
  return std::nullopt;
}

void StateChain::remember() const {
  if (trust_.remember) trust_.remember(trust_.known);
}

}  // namespace starling::session
