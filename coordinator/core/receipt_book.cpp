#include "coordinator/core/receipt_book.h"

#include <algorithm>
#include <optional>

namespace starling::core {
namespace {

constexpr std::int64_t kCallsMax = std::int64_t{1} << 20;  // one holder's in one message: more is no honest word

}  // namespace

void ReceiptBook::Balance::confirm(SampleCount samples, SampleCount ahead) {
  samples_ = std::min(samples_ + std::min(samples, 2 * ahead), ahead);
}

SampleCount ReceiptBook::Balance::claim(SampleCount samples, SampleCount ahead) {
  const SampleCount covered = std::min(samples, samples_ + ahead);
  samples_ -= covered;
  return covered;
}

ReceiptBook::ReceiptBook(std::size_t cells, SampleCount ahead, const KnownHosts& hosts)
    : ahead_(std::clamp<SampleCount>(ahead, 1, kMemberSamplesMax)), hosts_(hosts), cells_(cells) {}

// A sample goes once through each layer, and so is worth one in each of its cells.
void ReceiptBook::on_trained(const std::vector<CreditedContribution>& credited) {
  const auto cells = static_cast<SampleCount>(cells_);
  for (const CreditedContribution& line : credited)
    callers_[line.account].confirm(line.samples * cells, ahead_ * cells);
}

void ReceiptBook::on_receipts(const MemberIdentity& caller, const wire::CallReceipts& receipts) {
  std::int64_t& newest = newest_[caller.peer];
  if (newest == receipts.number) return;  // its reply was lost
  newest = receipts.number;
  Balance& own = callers_[caller.account];
  for (const wire::HolderReceipt& receipt : receipts.holders) {
    const std::optional<AccountId> holder = hosts_.account_of(receipt.holder);
    if (!holder) continue;
    calls_[*holder] += std::min(receipt.calls, kCallsMax);
    for (const wire::CellSamples& computed : receipt.cells) {
      if (static_cast<std::size_t>(computed.cell) >= cells_) continue;
      const SampleCount covered = own.claim(computed.samples, ahead_ * static_cast<SampleCount>(cells_));
      if (covered > 0) holders_[{*holder, computed.cell}].confirm(covered, ahead_);
    }
  }
}

void ReceiptBook::count_calls(CellCover& cover) const {
  cover.calls = 0;
  for (const auto& [account, calls] : calls_) cover.calls += calls;
  for (CellShare& share : cover.shares) {
    const auto found = calls_.find(share.account);
    share.calls = found != calls_.end() ? found->second : 0;
  }
}

SampleCount ReceiptBook::settle(wire::CellIndex cell, AccountId holder, SampleCount samples) {
  return holders_[{holder, cell}].claim(samples, ahead_);
}

}  // namespace starling::core
