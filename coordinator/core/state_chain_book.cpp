#include "coordinator/core/state_chain_book.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "coordinator/core/reports.h"

namespace starling::core {

namespace {

// Holders of one result may differ in the contributions that they report, which they do not sign.
const PeerSignature* signature_of(const PeerId& peer, const ResultClass& result, std::span<const ResultClass> told) {
  for (const ResultClass& version : told) {
    const bool same = version.group == result.group && version.base_digest == result.base_digest &&
                      version.result_digest == result.result_digest && version.state_digest == result.state_digest;
    const auto signature = version.signatures.find(peer);
    if (same && signature != version.signatures.end()) return &signature->second;
  }
  return nullptr;
}

}  // namespace

std::optional<wire::StateLink> link_of(const SeatedGroup& group, const ResultClass& result,
                                       std::span<const ResultClass> told, const Digest& base) {
  if (result.base_digest != base) return std::nullopt;
  wire::StateLink link{group.round, group.id, base, result.result_digest, result.state_digest, {}, {}, {}};
  std::map<AccountId, std::uint32_t> numbers;
  std::set<std::uint32_t> voted;
  for (const Seat& seat : group.seats()) {
    const bool votes = seat.voice && seat.role != wire::MemberRole::late;
    std::uint32_t number = 0;
    if (votes) number = numbers.try_emplace(seat.account, static_cast<std::uint32_t>(numbers.size()) + 1).first->second;
    const auto rank = static_cast<std::uint32_t>(link.voters.size());
    link.voters.push_back({seat.peer, number});
    const PeerSignature* signature = votes ? signature_of(seat.peer, result, told) : nullptr;
    if (signature != nullptr && voted.insert(number).second) link.votes.push_back({rank, *signature});
  }
  if (2 * voted.size() <= numbers.size()) return std::nullopt;
  // More votes than are needed only make it longer.
  link.votes.resize(numbers.size() / 2 + 1);
  return link;
}

std::optional<KnownState> RecoveredChain::newest() const {
  if (statement.empty()) return std::nullopt;
  if (links.empty()) return KnownState{stated.round, stated.state_digest};
  return KnownState{links.back().round + 1, links.back().state_digest};
}

StateChainBook::StateChainBook(RunId run_id, std::shared_ptr<const StateSigner> signer, RecoveredChain recovered)
    : run_id_(std::move(run_id)),
      signer_(std::move(signer)),
      proof_{std::move(recovered.statement), std::move(recovered.links)},
      serial_(recovered.stated.serial) {
  for (const wire::StateLink& link : proof_.links) link_bytes_ += wire::encode(link).size();
}

ChainGrowth StateChainBook::on_decided(WallTime wall, const wire::StateLink* link, RoundIndex round,
                                       const Digest& state_digest) {
  if (signer_ == nullptr) return {};
  if (link != nullptr && !proof_.statement.empty() && proof_.links.size() < wire::kStateLinksMax) {
    wire::StateLink sealed = *link;
    sealed.seal = signer_->seal(run_id_, sealed);
    std::string text = wire::encode(sealed);
    if (link_bytes_ + text.size() <= wire::kStateLinksBytesMax) {
      link_bytes_ += text.size();
      proof_.links.push_back(std::move(sealed));
      return {std::move(text), {}, {}};
    }
  }
  return state(wall, wire::StatementCause::advance, round + 1, state_digest);
}

ChainGrowth StateChainBook::state(WallTime wall, wire::StatementCause cause, RoundIndex round,
                                  const Digest& state_digest) {
  if (signer_ == nullptr) return {};
  serial_ = std::max(serial_ + 1, wall.unix_ms);
  const wire::StateStatement stated{run_id_, round, state_digest, serial_, cause};
  proof_.statement = signer_->sign(stated);
  proof_.links.clear();
  link_bytes_ = 0;
  return {{}, proof_.statement, stated};
}

std::optional<wire::StateProof> StateChainBook::proof() const {
  if (signer_ == nullptr || proof_.statement.empty()) return std::nullopt;
  return proof_;
}

}  // namespace starling::core
