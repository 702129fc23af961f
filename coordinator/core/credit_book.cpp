#include "coordinator/core/credit_book.h"

#include <algorithm>
#include <utility>

namespace starling::core {

double credit_earned(double flops_per_sample, SampleCount samples) {
  return flops_per_sample * static_cast<double>(samples) * (200.0 / 86400e9);
}

void CreditBook::replace(const std::vector<AccountSamples>& sums) {
  stored_.clear();
  for (const AccountSamples& sum : sums) stored_[sum.account] = sum.samples;
}

void CreditBook::add(RoundIndex round, std::vector<AccountSamples> credit) {
  pending_.emplace_back(round, std::move(credit));
}

void CreditBook::on_stored(RoundIndex round) {
  while (!pending_.empty() && pending_.front().first <= round) {
    for (const AccountSamples& sum : pending_.front().second) stored_[sum.account] += sum.samples;
    for (const AccountSamples& sum : pending_.front().second) not_final_[sum.account] += sum.samples;
    provisional_.push_back(std::move(pending_.front()));
    pending_.pop_front();
  }
}

void CreditBook::on_refused(RoundIndex round) {
  std::erase_if(pending_, [=](const auto& pending) { return pending.first == round; });
}

RoundIndex CreditBook::durable_below(RoundIndex round) const {
  return pending_.empty() ? round : pending_.front().first;
}

SampleCount CreditBook::stored(AccountId account) const {
  const auto sum = stored_.find(account);
  return sum == stored_.end() ? 0 : sum->second;
}

void CreditBook::finalize(RoundIndex below) {
  for (; !provisional_.empty() && provisional_.front().first < below; provisional_.pop_front()) {
    for (const AccountSamples& sum : provisional_.front().second) not_final_[sum.account] -= sum.samples;
  }
}

// Whichever rounds they were of: only the account's sum is told.
void CreditBook::take_back(AccountId account, SampleCount samples) {
  for (auto& [round, sums] : provisional_) {
    for (AccountSamples& sum : sums) {
      if (sum.account != account) continue;
      const SampleCount taken = std::min(sum.samples, samples);
      sum.samples -= taken;
      samples -= taken;
      not_final_[account] -= taken;
    }
  }
}

SampleCount CreditBook::not_final(AccountId account) const {
  const auto sum = not_final_.find(account);
  return sum == not_final_.end() ? 0 : sum->second;
}

}  // namespace starling::core
