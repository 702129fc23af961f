#include "coordinator/core/holders.h"

#include <array>
#include <map>
#include <set>
#include <utility>

#include "shared/protocol/heartbeat.h"

namespace starling::core {
namespace {

constexpr Duration kAskAgain = std::chrono::minutes(1);
constexpr int kProvesSince = 2;    // older programs know no challenges
constexpr int kUnansweredMax = 4;  // replies may get lost
constexpr std::size_t kAccountsMin = 2;

bool claims(const Member& member, const Digest& canonical) {
  return !canonical.is_zero() && member.reported.state_digest == canonical;
}

bool is_silent(const Holding& claim) { return claim.unanswered >= kUnansweredMax; }

// Returns the right proof of the canonical state for each challenge, as far as there is one.
std::map<Hash128, Digest> right_proofs(const MemberTable& members, const Digest& canonical) {
  std::set<AccountId> claimants;
  std::map<std::pair<Hash128, Digest>, std::set<AccountId>> proofs;
  for (const auto& [peer, member] : members.all()) {
    const Holding& claim = member.holding;
    if (!claims(member, canonical) || !member.voice || is_silent(claim)) continue;
    claimants.insert(member.who.account);
    if (claim.state == canonical) proofs[{claim.challenge, claim.proof}].insert(member.who.account);
  }
  std::map<Hash128, Digest> right;
  for (const auto& [proof, accounts] : proofs) {
    if (accounts.size() >= kAccountsMin && 2 * accounts.size() > claimants.size()) right.insert(proof);
  }
  return right;
}

Holding::Verdict verdict_on(const Holding& claim, const Digest& canonical, const std::map<Hash128, Digest>& right) {
  using Verdict = Holding::Verdict;
  if (is_silent(claim)) return Verdict::refuted;
  if (claim.state != canonical) return Verdict::open;
  const auto proof = right.find(claim.challenge);
  if (proof != right.end()) return proof->second == claim.proof ? Verdict::agreed : Verdict::refuted;
  // Not all have answered the newest challenge yet.
  const bool agreed_before = claim.verdict == Verdict::agreed && claim.judged_at == canonical;
  return agreed_before ? Verdict::agreed : Verdict::alone;
}

}  // namespace

HolderBook::HolderBook(std::uint64_t secret) : secret_(secret) { ask_again(); }

void HolderBook::ask_again() {
  const std::array<std::uint64_t, 2> words{secret_, ++serial_};
  previous_ = std::exchange(challenge_, hash128({reinterpret_cast<const std::uint8_t*>(words.data()), sizeof words}));
}

void HolderBook::sweep(TimePoint now) {
  if (asked_at_ == kNever) asked_at_ = now;
  if (now - asked_at_ < kAskAgain) return;
  asked_at_ = now;
  ask_again();
}

void HolderBook::on_call(Member& member, const wire::Heartbeat& heartbeat, const Digest& canonical) const {
  Holding& claim = member.holding;
  const bool was_asked = std::exchange(claim.asked, true);
  const auto& proof = heartbeat.trust.holding;
  if (proof && (proof->challenge == challenge_ || proof->challenge == previous_)) {
    claim.challenge = proof->challenge;
    claim.proof = proof->digest;
    claim.state = heartbeat.state_digest;
    claim.unanswered = 0;
  } else if (was_asked && claims(member, canonical) && heartbeat.protocol >= kProvesSince) {
    ++claim.unanswered;
  }
  judge(member, canonical);
}

void HolderBook::judge(Member& member, const Digest& canonical) const {
  static const std::map<Hash128, Digest> kNone;
  const std::map<Hash128, Digest>& right = canonical == compared_ ? right_ : kNone;
  Holding& claim = member.holding;
  claim.verdict = claims(member, canonical) ? verdict_on(claim, canonical, right) : Holding::Verdict::open;
  claim.judged_at = canonical;
}

std::vector<PeerId> HolderBook::compare(TimePoint now, MemberTable& members, const Digest& canonical) {
  right_ = right_proofs(members, canonical);
  compared_ = canonical;
  std::vector<PeerId> false_proofs;
  for (auto& [peer, member] : members.all()) {
    const bool was_refuted = member.holding.refuted();
    judge(member, canonical);
    if (member.holding.refuted() && !is_silent(member.holding)) false_proofs.push_back(peer);
    if (member.holding.refuted() != was_refuted) members.judge(now, member, canonical);
  }
  return false_proofs;
}

}  // namespace starling::core
