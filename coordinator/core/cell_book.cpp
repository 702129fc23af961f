#include "coordinator/core/cell_book.h"

#include <algorithm>
#include <tuple>

#include "shared/base/upper_median.h"
#include "shared/base/verify.h"

namespace starling::core {
namespace {

// Longer than a computer takes to start again: it comes back to the cells that are on its disk.
constexpr Duration kForgetAfter = std::chrono::seconds(30);
// Longer than the longest time between two calls. Where all holders of a cell are silent for so long, it gets another.
constexpr Duration kSilentAfter = std::chrono::seconds(11);
constexpr Duration kSweepEvery = std::chrono::seconds(1);
constexpr Duration kPausedFor = std::chrono::minutes(1);  // longer pauses are worth a transfer of the state
constexpr Duration kTakesOver = std::chrono::minutes(3);  // time for the transfer before a holder leaves

constexpr double kLineChanged = 2;     // a line that was measured a little faster is no reason to move cells
constexpr double kShareMin = 1.0 / 8;  // the slowest lines' share of the load
constexpr std::int64_t kLeavesInMaxS = 10 * 24 * 3600;

bool can_be_called(const wire::Endpoint& at) { return at.port != 0; }

}  // namespace

// A cell's holders are dialled as members of its run. Those that are gone take its state with them, and the run waits:
// it goes on from the copy sooner than a run that waits for its members. With a sole holder that has to be as new as
// the manifest says.
void adapt_to_cell(int holders, CoordinatorOptions& options) {
  options.dial_back = false;
  options.patience.restore = std::chrono::seconds(12);
  if (holders == 1) options.checkpoints.interval = Duration{};
}

int CellBook::Holders::ready_ones() const {
  return static_cast<int>(
      std::count_if(dealt.begin(), dealt.end(), [this](const PeerId& peer) { return ready.contains(peer); }));
}

CellBook::CellBook(CellPlan plan) : plan_(std::move(plan)), cells_(plan_.bytes.size()) {
  VERIFY(!plan_.bytes.empty());
  table_.number = plan_.first_table;
}

bool CellBook::is_leaving(TimePoint now, const Volunteer& volunteer) {
  const bool pauses = volunteer.paused_since != kNever && now - volunteer.paused_since > kPausedFor;
  return pauses || (volunteer.leaves_at != kNever && volunteer.leaves_at - now < kTakesOver);
}

bool CellBook::takes_more(TimePoint now, const Volunteer& volunteer) {
  const bool is_silent = now - volunteer.called > kSilentAfter;
  return !is_silent && volunteer.paused_since == kNever && !is_leaving(now, volunteer);
}

void CellBook::give(wire::CellIndex cell, Entry& to) {
  if (!to.second.cells.insert(cell).second) return;
  to.second.load += bytes_of(cell);
  holders_of(cell).dealt.insert(to.first);
}

void CellBook::take_back(wire::CellIndex cell, const PeerId& from) {
  Volunteer& volunteer = volunteers_.at(from);
  volunteer.cells.erase(cell);
  volunteer.load -= bytes_of(cell);
  holders_of(cell).dealt.erase(from);
}

void CellBook::forget(const PeerId& peer) {
  const auto found = volunteers_.find(peer);
  if (found == volunteers_.end()) return;
  for (const wire::CellIndex cell : found->second.cells) holders_of(cell).dealt.erase(peer);
  volunteers_.erase(found);
  changed_ = true;
}

// After the coordinator was away, volunteers go on with the cells that they hold. Those that call first may have been
// dealt others' cells by then, whose state they do not have yet.
void CellBook::on_offer(TimePoint now, const MemberIdentity& who, const Condition& condition,
                        const wire::CellOffer& offer) {
  const auto [entry, is_new] = volunteers_.try_emplace(who.peer);
  Volunteer& volunteer = entry->second;
  changed_ = changed_ || is_new || volunteer.bytes != offer.bytes || !(volunteer.at == condition.at);
  volunteer.account = who.account;
  volunteer.at = condition.at;
  volunteer.bytes = offer.bytes;
  volunteer.called = now;
  if (const double line = condition.line_bytes_per_s; line > 0) {
    double& known = volunteer.line_bytes_per_s;
    if (line > known * kLineChanged || line < known / kLineChanged) known = line;
  }
  volunteer.paused_since = condition.is_paused ? std::min(volunteer.paused_since, now) : kNever;
  volunteer.leaves_at =
      offer.leaves_in_s ? now + std::chrono::seconds(std::min(*offer.leaves_in_s, kLeavesInMaxS)) : kNever;
  if (!is_new) return;
  for (const wire::CellIndex cell : offer.held) {
    const bool exists = static_cast<std::size_t>(cell) < cells_.size();
    if (exists && holders_of(cell).ready_ones() < plan_.holders) give(cell, *entry);
  }
}

void CellBook::on_goodbye(const PeerId& peer) { forget(peer); }

void CellBook::set_ready(wire::CellIndex cell, std::span<const PeerId> peers) {
  std::set<PeerId> ready(peers.begin(), peers.end());
  std::set<PeerId>& before = holders_of(cell).ready;
  changed_ = changed_ || ready != before;
  before = std::move(ready);
}

void CellBook::deal(TimePoint now) {
  if (now - swept_ >= kSweepEvery) {
    swept_ = now;
    std::vector<PeerId> gone;
    for (const auto& [peer, volunteer] : volunteers_) {
      if (now - volunteer.called > kForgetAfter) gone.push_back(peer);
    }
    for (const PeerId& peer : gone) forget(peer);
    changed_ = true;  // a move may be due
  }
  if (!changed_) return;
  changed_ = false;
  share_by_lines();
  take_back_beyond_room();
  fill(now);
  end_surplus(now);
  begin_move(now);
  renew_table();
}

// Calls cross the holder's line, so that one on a slow line holds less. Lines above the median count like it: there
// computing is what takes time.
void CellBook::share_by_lines() {
  std::vector<double> lines;
  for (const auto& [peer, volunteer] : volunteers_) {
    if (volunteer.line_bytes_per_s > 0) lines.push_back(volunteer.line_bytes_per_s);
  }
  if (lines.empty()) return;
  const double median = upper_median(lines);
  for (auto& [peer, volunteer] : volunteers_) {
    const double line = volunteer.line_bytes_per_s > 0 ? volunteer.line_bytes_per_s : median;
    volunteer.share = std::clamp(line / median, kShareMin, 1.0);
  }
}

// A volunteer that gives less memory keeps the cells that have the fewest other holders.
void CellBook::take_back_beyond_room() {
  for (auto& [peer, volunteer] : volunteers_) {
    while (volunteer.load > volunteer.bytes && !volunteer.cells.empty()) {
      const auto least_needed = std::max_element(volunteer.cells.begin(), volunteer.cells.end(),
                                                 [this](wire::CellIndex a, wire::CellIndex b) {
                                                   return holders_of(a).ready_ones() < holders_of(b).ready_ones();
                                                 });
      take_back(*least_needed, peer);
    }
  }
}

// Deals cells that have too few holders: first those that have the fewest. Those that are leaving are none, and a cell
// whose holders are all silent has none.
void CellBook::fill(TimePoint now) {
  const auto is_silent = [&](const PeerId& peer) { return now - volunteers_.at(peer).called > kSilentAfter; };
  std::set<std::pair<int, wire::CellIndex>> lacking;
  for (std::size_t number = 0; number < cells_.size(); ++number) {
    const std::set<PeerId>& dealt = cells_[number].dealt;
    const bool is_lost = std::all_of(dealt.begin(), dealt.end(), is_silent);
    const auto staying = std::count_if(dealt.begin(), dealt.end(),
                                       [&](const PeerId& peer) { return !is_leaving(now, volunteers_.at(peer)); });
    const int holders = is_lost ? std::min(plan_.holders - 1, static_cast<int>(staying)) : static_cast<int>(staying);
    if (holders < plan_.holders) lacking.emplace(dealt.empty() ? 0 : holders, static_cast<wire::CellIndex>(number));
  }
  while (!lacking.empty()) {
    const auto [holders, cell] = *lacking.begin();
    lacking.erase(lacking.begin());
    Entry* const best = best_for(now, cell);
    if (best == nullptr) continue;
    give(cell, *best);
    if (holders + 1 < plan_.holders) lacking.emplace(holders + 1, cell);
  }
}

// The volunteer with room to which the cell goes: an account of its own comes first, then whether others can call it
// where nobody who holds the cell can be called, then the least load for its line. Null: nobody has room.
CellBook::Entry* CellBook::best_for(TimePoint now, wire::CellIndex cell) {
  std::set<AccountId> accounts;
  for (const PeerId& peer : holders_of(cell).dealt) accounts.insert(volunteers_.at(peer).account);
  const bool has_callable = spread(cell, nullptr, nullptr).second;
  const auto rank = [&](const Volunteer& volunteer) {
    return std::tuple(accounts.contains(volunteer.account), !has_callable && !can_be_called(volunteer.at),
                      volunteer.weight(bytes_of(cell)), -volunteer.bytes);
  };
  Entry* best = nullptr;
  for (Entry& entry : volunteers_) {
    const Volunteer& volunteer = entry.second;
    if (!takes_more(now, volunteer) || volunteer.cells.contains(cell) || !has_room(volunteer, cell)) continue;
    if (best == nullptr || rank(volunteer) < rank(best->second)) best = &entry;
  }
  return best;
}

// How well the cell's holders are spread: their accounts, up to the number of holders that are wanted, and whether
// somebody can be called, if `without` were none and `with` were one; null: nobody.
CellBook::Spread CellBook::spread(wire::CellIndex cell, const PeerId* without, const PeerId* with) const {
  std::set<PeerId> holders = holders_of(cell).dealt;
  if (without != nullptr) holders.erase(*without);
  if (with != nullptr) holders.insert(*with);
  std::set<AccountId> accounts;
  bool callable = false;
  for (const PeerId& peer : holders) {
    accounts.insert(volunteers_.at(peer).account);
    callable = callable || can_be_called(volunteers_.at(peer).at);
  }
  return {std::min(accounts.size(), static_cast<std::size_t>(plan_.holders)), callable};
}

// Where a cell has more holders with its state than it needs, one lets it go: one that is leaving first, else the
// others stay as well spread as can be, and it is the one with the highest load. Those that are leaving without the
// state are of no use once others have it.
void CellBook::end_surplus(TimePoint now) {
  for (std::size_t number = 0; number < cells_.size(); ++number) {
    const auto cell = static_cast<wire::CellIndex>(number);
    Holders& holders = cells_[number];
    while (holders.ready_ones() > plan_.holders) {
      const auto rank = [&](const PeerId& peer) {
        const Volunteer& volunteer = volunteers_.at(peer);
        return std::tuple(is_leaving(now, volunteer), spread(cell, &peer, nullptr), volunteer.weight());
      };
      std::optional<PeerId> best;
      for (const PeerId& peer : holders.dealt) {
        if (holders.ready.contains(peer) && (!best || rank(*best) < rank(peer))) best = peer;
      }
      take_back(cell, *best);
    }
    if (holders.ready_ones() < plan_.holders) continue;
    std::vector<PeerId> of_no_use;
    for (const PeerId& peer : holders.dealt) {
      if (!holders.ready.contains(peer) && is_leaving(now, volunteers_.at(peer))) of_no_use.push_back(peer);
    }
    for (const PeerId& peer : of_no_use) take_back(cell, peer);
  }
}

// Begins to move one cell to the volunteer with the least load, if that makes loads more even, leaves holders as well
// spread, and no move is under way.
void CellBook::begin_move(TimePoint now) {
  const auto is_settled = [this](const Holders& holders) {
    const auto dealt = static_cast<int>(holders.dealt.size());
    return dealt <= plan_.holders && holders.ready_ones() == dealt;
  };
  if (volunteers_.empty() || !std::all_of(cells_.begin(), cells_.end(), is_settled)) return;
  const auto less = [&](const Entry& a, const Entry& b) {
    return std::pair(!takes_more(now, a.second), a.second.weight()) <
           std::pair(!takes_more(now, b.second), b.second.weight());
  };
  const auto least = std::min_element(volunteers_.begin(), volunteers_.end(), less);
  const auto most = std::max_element(volunteers_.begin(), volunteers_.end(), [](const Entry& a, const Entry& b) {
    return a.second.weight() < b.second.weight();
  });
  if (!takes_more(now, least->second)) return;
  for (const wire::CellIndex cell : most->second.cells) {
    const bool evens = least->second.weight(bytes_of(cell)) <= most->second.weight(-bytes_of(cell));
    if (!evens || !has_room(least->second, cell) || least->second.cells.contains(cell)) continue;
    const Spread before = spread(cell, nullptr, nullptr), after = spread(cell, &most->first, &least->first);
    if (after.first < before.first || after.second < before.second) continue;
    return give(cell, *least);
  }
}

// Holders that nobody can dial are in it, too: a link that they have opened serves.
void CellBook::renew_table() {
  wire::CellTable table;
  table.number = table_.number;
  std::map<PeerId, std::int64_t> places;
  for (std::size_t number = 0; number < cells_.size(); ++number) {
    wire::CellHolders row{static_cast<wire::CellIndex>(number), {}};
    for (const PeerId& peer : cells_[number].dealt) {
      const bool has_place = places.contains(peer) || table.members.size() < wire::kCellMembersMax;
      if (!cells_[number].ready.contains(peer) || !has_place) continue;
      const auto [place, is_new] = places.try_emplace(peer, static_cast<std::int64_t>(table.members.size()));
      if (is_new) table.members.push_back(volunteers_.at(peer).at);
      row.members.push_back(place->second);
      if (row.members.size() == static_cast<std::size_t>(wire::kCellHoldersMax)) break;
    }
    if (!row.members.empty()) table.cells.push_back(std::move(row));
  }
  if (table.members == table_.members && table.cells == table_.cells) return;
  table.number += 1;
  table_ = std::move(table);
}

wire::CellsDealt CellBook::answer(const PeerId& peer, std::int64_t table) const {
  wire::CellsDealt dealt;
  const auto found = volunteers_.find(peer);
  if (found != volunteers_.end()) dealt.hold.assign(found->second.cells.begin(), found->second.cells.end());
  if (table != table_.number) dealt.table = table_;
  return dealt;
}

CellCover CellBook::cover() const {
  CellCover cover{{}, plan_.holders};
  for (const Holders& holders : cells_) cover.holders.push_back(holders.ready_ones());
  std::map<AccountId, CellShare> shares;
  for (const auto& [peer, volunteer] : volunteers_) {
    const auto has = std::count_if(volunteer.cells.begin(), volunteer.cells.end(),
                                   [&](wire::CellIndex cell) { return holders_of(cell).ready.contains(peer); });
    if (has == 0) continue;
    CellShare& share = shares[volunteer.account];
    share.account = volunteer.account;
    share.computers += 1;
    share.cells += static_cast<int>(has);
    share.alone +=
        static_cast<int>(std::count_if(volunteer.cells.begin(), volunteer.cells.end(), [&](wire::CellIndex cell) {
          return holders_of(cell).ready.contains(peer) && holders_of(cell).ready_ones() == 1;
        }));
  }
  for (const auto& [account, share] : shares) cover.shares.push_back(share);
  std::stable_sort(cover.shares.begin(), cover.shares.end(),
                   [](const CellShare& a, const CellShare& b) { return a.cells > b.cells; });
  return cover;
}

}  // namespace starling::core
