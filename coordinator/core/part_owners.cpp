#include "coordinator/core/part_owners.h"

#include <algorithm>

namespace starling::core {
namespace {

constexpr RoundIndex kDisputesKept = 128;
constexpr RoundIndex kOwnsNothingFor = 64;
constexpr RoundIndex kOwnsNothingAtFirst = 8;  // so that the next audit shows whether the member is at odds with others
constexpr int kDisputesOfTwo = 2;
constexpr std::size_t kOffMax = 3;
constexpr std::size_t kWordsRemembered = 32;
constexpr std::ptrdiff_t kSilentMax = 24;

}  // namespace

bool PartOwners::may_own(AccountId account, RoundIndex round) const {
  const auto until = owns_nothing_until_.find(account);
  return until == owns_nothing_until_.end() || round >= until->second;
}

PartOwners::Dispute& PartOwners::note(Disputes& disputes, AccountId account, AccountId other, RoundIndex round) {
  std::map<AccountId, Dispute>& with = disputes[account];
  std::erase_if(with, [round](const auto& entry) { return entry.second.last + kDisputesKept < round; });
  Dispute& dispute = with[other];
  dispute.last = round;
  ++dispute.times;
  return dispute;
}

PartOwners::Fault PartOwners::on_dispute(RoundIndex round, AccountId member, std::span<const AccountId> owners,
                                         std::size_t many) {
  for (const AccountId owner : owners) {
    (void)note(of_owners_, owner, member, round);
    const bool again = note(of_members_, member, owner, round).times >= kDisputesOfTwo;
    RoundIndex& until = owns_nothing_until_[owner];
    until = std::max(until, round + 1 + (again ? kOwnsNothingFor : kOwnsNothingAtFirst));
  }
  Fault fault;
  const std::size_t at_odds = of_members_[member].size();
  for (const AccountId owner : owners) {
    const std::size_t others = of_owners_[owner].size();
    if (others >= many && others > at_odds) fault.of_owners.push_back(owner);
  }
  fault.of_member = at_odds >= many && fault.of_owners.empty();
  return fault;
}

void PartOwners::on_off(RoundIndex round, AccountId account) {
  std::vector<RoundIndex>& rounds = off_[account];
  std::erase_if(rounds, [round](RoundIndex then) { return then + kDisputesKept < round; });
  if (rounds.empty() || rounds.back() != round) rounds.push_back(round);
  if (rounds.size() >= kOffMax) owns_nothing_until_[account] = round + 1 + kOwnsNothingFor;
}

// Words come too late now and then: where rounds are short, or a line is slow.
void PartOwners::on_word(RoundIndex round, AccountId account, bool told) {
  std::deque<bool>& words = told_[account];
  words.push_back(told);
  if (words.size() > kWordsRemembered) words.pop_front();
  if (std::count(words.begin(), words.end(), false) < kSilentMax) return;
  owns_nothing_until_[account] = round + 1 + kOwnsNothingFor;
  words.clear();
}

}  // namespace starling::core
