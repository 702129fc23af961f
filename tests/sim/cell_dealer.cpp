#include "tests/sim/cell_dealer.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "shared/base/permutation.h"

namespace starling::sim {
namespace {

// The book's own bounds are 11 s, from which on a volunteer is dealt nothing, and 30 s, when it is forgotten.
constexpr Duration kHeard = std::chrono::seconds(10);
constexpr Duration kDealEvery = std::chrono::milliseconds(250);

}  // namespace

CellDealer::CellDealer(Scheduler& scheduler, const CellSwarmOptions& options, const wire::RunManifest& run,
                       CellChecks& checks, const core::KnownHosts& hosts)
    : scheduler_(scheduler),
      options_(options),
      checks_(checks),
      hosts_(hosts),
      samples_ahead_(core::kReceiptRoundsAhead * run.target_batch_size) {
  plan_.holders = options.holders;
  for (wire::CellIndex cell = 0; cell < std::ssize(wire::cells_of(run.model)); ++cell) {
    plan_.bytes.push_back(wire::held_bytes(run, cell));
  }
}

void CellDealer::start() {
  plan_.first_table = static_cast<std::int64_t>(mix64(options_.seed + ++starts_) >> 32);
  book_.emplace(plan_);
  receipts_.emplace(plan_.bytes.size(), samples_ahead_, hosts_);
  receipts_->on_trained(std::exchange(untold_, {}));
  checks_.on_heard_again(scheduler_.now());
  tick(starts_);
}

void CellDealer::tick(std::uint64_t start) {
  if (!up() || start != starts_) return;
  deal();
  scheduler_.after(kDealEvery, [this, start] { tick(start); });
}

void CellDealer::crash() {
  book_.reset();
  receipts_.reset();
  callers_.clear();
  ready_.clear();
}

void CellDealer::set_ready(wire::CellIndex cell, std::span<const PeerId> peers) {
  ready_[cell] = {peers.begin(), peers.end()};
  book_->set_ready(cell, peers);
}

std::map<PeerId, std::set<wire::CellIndex>> CellDealer::dealt() const {
  std::map<PeerId, std::set<wire::CellIndex>> dealt;
  for (const auto& [peer, caller] : callers_) {
    const wire::CellsDealt answer = book_->answer(peer, 0);
    dealt[peer] = {answer.hold.begin(), answer.hold.end()};
  }
  return dealt;
}

wire::CellsDealt CellDealer::on_offer(const core::MemberIdentity& who, const core::CellBook::Condition& condition,
                                      const wire::Computing& told) {
  const wire::CellOffer& offer = told.cells.value();
  if (told.receipts) receipts_->on_receipts(who, *told.receipts);
  book_->on_offer(scheduler_.now(), who, condition, offer);
  const bool is_new = callers_.try_emplace(who.peer).second;
  callers_[who.peer] = {scheduler_.now(), offer.bytes};
  deal();
  const wire::CellsDealt answer = book_->answer(who.peer, offer.table);
  if (is_new) check_kept(who.peer, offer, answer);
  return answer;
}

void CellDealer::on_trained(const core::CreditedContribution& credited) {
  if (!up()) return untold_.push_back(credited);
  receipts_->on_trained({credited});
}

SampleCount CellDealer::earning(wire::CellIndex cell, AccountId account, SampleCount samples) {
  return receipts_->settle(cell, account, samples);
}

void CellDealer::check_kept(const PeerId& peer, const wire::CellOffer& offer, const wire::CellsDealt& answer) {
  for (const wire::CellIndex cell : offer.held) {
    const bool is_kept = std::find(answer.hold.begin(), answer.hold.end(), cell) != answer.hold.end();
    if (is_kept || !has_state(peer, cell)) continue;
    const std::map<PeerId, std::set<wire::CellIndex>> dealt = this->dealt();
    const std::set<PeerId>& ready = ready_[cell];
    const auto others = std::count_if(ready.begin(), ready.end(), [&](const PeerId& other) {
      const auto cells = dealt.find(other);
      return cells != dealt.end() && cells->second.contains(cell);
    });
    if (others >= options_.holders) continue;
    checks_.fail(fmt::format("{} comes with the state of cell {}, and is to let it go", peer.brief(), cell));
  }
}

void CellDealer::deal() {
  CellChecks::Dealing dealing;
  dealing.before = dealt();
  book_->deal(scheduler_.now());
  dealing.after = dealt();
  dealing.ready = ready_;
  for (const auto& [peer, caller] : callers_) {
    if (scheduler_.now() - caller.called <= kHeard) dealing.heard.insert(peer);
  }
  moved_ += checks_.on_dealt(scheduler_.now(), dealing);
}

std::string CellDealer::undealt() const {
  const std::map<PeerId, std::set<wire::CellIndex>> dealt = this->dealt();
  for (std::size_t number = 0; number < plan_.bytes.size(); ++number) {
    const auto cell = static_cast<wire::CellIndex>(number);
    const auto holders =
        std::count_if(dealt.begin(), dealt.end(), [cell](const auto& entry) { return entry.second.contains(cell); });
    if (holders >= plan_.holders) continue;
    for (const auto& [peer, cells] : dealt) {
      std::int64_t load = 0;
      for (const wire::CellIndex held : cells) load += plan_.bytes[static_cast<std::size_t>(held)];
      const Caller& caller = callers_.at(peer);
      const bool is_heard = scheduler_.now() - caller.called <= kHeard;
      if (!is_heard || cells.contains(cell) || load + plan_.bytes[number] > caller.bytes) continue;
      return fmt::format("cell {} has {} holders, and {} has room", cell, holders, peer.brief());
    }
  }
  return {};
}

}  // namespace starling::sim
