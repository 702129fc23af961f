#include "shared/protocol/state_proof.h"

#include <fmt/format.h>

#include <set>

namespace starling::wire {
namespace {

Error refused(const StateLink& link, std::string_view why) {
  return {ErrorCode::invalid_argument, fmt::format("the link of round {} does not hold: {}", link.round, why)};
}

}  // namespace

std::string sealed_text(const RunId& run_id, const StateLink& link) {
  std::string text = fmt::format("starling electorate v1\n{}\n{}\n{}\n{}\n", run_id, link.round, link.group.hex(),
                                 link.base_digest.hex());
  for (const StateVoter& voter : link.voters) text += fmt::format("{} {}\n", voter.peer.hex(), voter.voter);
  return text;
}

Status check_votes(const RunId& run_id, const StateLink& link, const SignatureCheck& check) {
  std::set<std::uint32_t> accounts;
  std::set<PeerId> peers;
  for (const StateVoter& voter : link.voters) {
    if (!peers.insert(voter.peer).second) return refused(link, "a member is named twice");
    if (voter.voter != 0) accounts.insert(voter.voter);
  }
  const std::string text =
      signed_text(run_id, {link.round, link.group, link.base_digest, link.result_digest, link.state_digest});
  std::set<std::uint32_t> voted;
  for (const StateVote& vote : link.votes) {
    if (vote.rank >= link.voters.size()) return refused(link, "somebody votes who is not in the group");
    const StateVoter& voter = link.voters[vote.rank];
    if (voter.voter == 0) return refused(link, "a member votes that has no vote");
    if (!voted.insert(voter.voter).second) return refused(link, "an account votes twice");
    if (const Status checked = check(voter.peer, vote.signature, text); !checked.ok()) {
      return refused(link, "a signature does not fit: " + checked.error().message);
    }
  }
  if (2 * voted.size() <= accounts.size()) {
    return refused(link, fmt::format("{} of {} accounts have signed it", voted.size(), accounts.size()));
  }
  return {};
}

}  // namespace starling::wire
