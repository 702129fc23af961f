// The credit of the run's accounts: the sums that the store holds, and the credit of decided rounds that it has not
// taken yet. Judge adds rounds, the store's answers make them durable, and members are told the stored sums only.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "coordinator/core/types.h"

namespace starling::core {

// Stored and pending credit.
class CreditBook {
 public:
  // Replaces the stored sums.
  void replace(const std::vector<AccountSamples>& sums);
  // Notes the credit of a decided round. Rounds come in ascending order.
  void add(RoundIndex round, std::vector<AccountSamples> credit);
  // The store has taken this round and all before it.
  void on_stored(RoundIndex round);
  // The store will never take this round: nobody gets credit for it.
  void on_refused(RoundIndex round);

  [[nodiscard]] std::size_t rounds_pending() const { return pending_.size(); }
  // Returns the first round that is not durable; `round`, the one in work, if all before it are.
  [[nodiscard]] RoundIndex durable_below(RoundIndex round) const;
  [[nodiscard]] SampleCount stored(AccountId account) const;
  // Credit of stored rounds before this one is final from now on.
  void finalize(RoundIndex below);
  // The store has taken back as many samples of the account, whose credit was not final.
  void take_back(AccountId account, SampleCount samples);
  // Returns the account's samples of stored rounds whose credit is not final.
  [[nodiscard]] SampleCount not_final(AccountId account) const;

 private:
  std::map<AccountId, SampleCount> stored_;
  using RoundCredit = std::pair<RoundIndex, std::vector<AccountSamples>>;
  std::deque<RoundCredit> pending_;             // decided, not durable
  std::deque<RoundCredit> provisional_;         // stored, not final
  std::map<AccountId, SampleCount> not_final_;  // sums of these
};

}  // namespace starling::core
