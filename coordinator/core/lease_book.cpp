#include "coordinator/core/lease_book.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "shared/base/permutation.h"
#include "shared/base/verify.h"

namespace starling::core {
namespace {

// A member that is gone keeps its samples from the others for this long; a member that the plan leaves out for a round,
// or that the coordinator does not hear of for a round or two, still has some.
constexpr RoundIndex kLeaseRounds = 3;
constexpr std::size_t kPiecesAtOnceMax = 16;
constexpr std::size_t kFruitlessMax = 4096;
constexpr std::size_t kHeldMax = 4 * wire::kLeasesMax;  // for all processes of a member

// Fewer accounts than kWitnesses may set aside one sample in this many, or kSetAsideByFewMax of a small epoch.
constexpr SampleCount kSamplesPerSetAside = 1000;
constexpr SampleCount kSetAsideByFewMax = 8;  // the least allowance
constexpr std::size_t kTriedMax = 1024;       // samples of an epoch that are remembered as tried
// Leases of doubtful samples last longer: another account is to try them, however slow its computers are.
constexpr RoundIndex kDoubtfulLeaseRounds = 2 * kLeaseRounds;
constexpr int kDoubtfulAtOnce = 4;  // pieces of doubtful samples in a deal

Interval places_of(const wire::SampleLease& lease) { return {lease.first, lease.first + lease.count}; }
SampleCount end_of(const wire::SampleLease& lease) { return lease.number + lease.count; }

std::size_t accounts_of(const std::set<std::pair<AccountId, RoundIndex>>& tries) {
  std::set<AccountId> accounts;
  for (const auto& [account, round] : tries) accounts.insert(account);
  return accounts.size();
}

}  // namespace

LeaseBook::LeaseBook(const std::vector<std::int64_t>& shard_samples, SampleCount piece,
                     const RecoveredLeases& recovered)
    : piece_(std::max<SampleCount>(1, piece)),
      shard_ends_(shard_samples.size()),
      readers_(shard_samples.size()),
      next_epoch_(recovered.next_epoch) {
  std::partial_sum(shard_samples.begin(), shard_samples.end(), shard_ends_.begin());
  VERIFY(!shard_ends_.empty() && shard_ends_.back() > 0);
  for (const std::int64_t epoch : recovered.open_epochs) open(epoch);
  for (const CountedSamples& counted : recovered.counted) {
    Epoch* epoch = find(counted.epoch);
    if (epoch == nullptr) continue;
    for (const Interval& piece : epoch->uncounted.remove({counted.first, counted.first + counted.count})) {
      epoch->free[shard_of(piece.first)].remove(piece);
    }
  }
  for (const SampleSetAside& sample : recovered.set_aside) {
    Epoch* epoch = find(sample.epoch);
    if (epoch == nullptr) continue;
    epoch->uncounted.remove({sample.place, sample.place + 1});
    ++epoch->set_aside_by_few;  // the number of accounts is not stored
    epoch->free[shard_of(sample.place)].remove({sample.place, sample.place + 1});
  }
  for (const LeasesDealt& dealt : recovered.held) {
    Holder& holder = holders_[dealt.peer];
    for (const wire::SampleLease& lease : dealt.leases) {
      if (Epoch* epoch = find(lease.epoch)) epoch->free[shard_of(lease.first)].remove(places_of(lease));
      holder.leases.push_back({lease, dealt.process, true});
      read(holder, shard_of(lease.first));
    }
    std::sort(holder.leases.begin(), holder.leases.end(),
              [](const Lease& a, const Lease& b) { return a.terms.number < b.terms.number; });
  }
  recover(recovered.tried);
}

void LeaseBook::recover(const std::vector<SampleTried>& tried) {
  for (const SampleTried& one : tried) {
    Epoch* epoch = find(one.epoch);
    if (epoch == nullptr || epoch->uncounted.common({one.place, one.place + 1}).empty()) continue;
    epoch->tries[one.place].insert({one.account, one.last_round});
    const auto holder = holders_.find(one.peer);
    if (holder == holders_.end()) continue;
    for (Lease& lease : holder->second.leases) {
      const Interval places = places_of(lease.terms);
      const bool has_it = places.first <= one.place && one.place < places.end;
      if (lease.terms.epoch != one.epoch || lease.terms.last_round != one.last_round || !has_it) continue;
      lease.passed.insert(lease.terms.number + (one.place - lease.terms.first));
    }
  }
  for (auto& [number, epoch] : epochs_) {
    for (const auto& [place, tries] : epoch.tries) {
      if (is_tried_now(number, place)) continue;
      epoch.free[shard_of(place)].remove({place, place + 1});
      epoch.doubtful.add({place, place + 1});
    }
  }
}

// True if a holder has the sample and has not passed it over.
bool LeaseBook::is_tried_now(std::int64_t epoch, std::int64_t place) const {
  const auto has_it = [&](const Lease& lease) {
    const Interval places = places_of(lease.terms);
    return lease.terms.epoch == epoch && places.first <= place && place < places.end &&
           !lease.passed.contains(lease.terms.number + (place - lease.terms.first));
  };
  return std::any_of(holders_.begin(), holders_.end(), [&](const auto& entry) {
    return std::any_of(entry.second.leases.begin(), entry.second.leases.end(), has_it);
  });
}

LeaseBook::Epoch& LeaseBook::open(std::int64_t number) {
  const auto [entry, is_new] = epochs_.try_emplace(number);
  Epoch& epoch = entry->second;
  if (!is_new) return epoch;
  std::int64_t begin = 0;
  for (const std::int64_t end : shard_ends_) {
    epoch.free.emplace_back().add({begin, end});
    begin = end;
  }
  epoch.uncounted.add({0, begin});
  next_epoch_ = std::max(next_epoch_, number + 1);
  return epoch;
}

std::size_t LeaseBook::shard_of(std::int64_t place) const {
  const auto after = std::upper_bound(shard_ends_.begin(), shard_ends_.end(), place);
  return static_cast<std::size_t>(std::min(after, shard_ends_.end() - 1) - shard_ends_.begin());
}

LeaseBook::Epoch* LeaseBook::find(std::int64_t epoch) {
  const auto entry = epochs_.find(epoch);
  return entry == epochs_.end() ? nullptr : &entry->second;
}

void LeaseBook::read(Holder& holder, std::optional<std::size_t> shard) {
  if (holder.shard) --readers_[*holder.shard];
  holder.shard = shard;
  if (shard) ++readers_[*shard];
}

// Chooses the holder's own shard as long as that lasts; then the next, which it has fetched meanwhile, unless others
// read that; then the shard with most left for each of its readers.
std::optional<std::size_t> LeaseBook::choose_shard(const Epoch& epoch, const PeerId& peer, const Holder& holder) const {
  const std::size_t shards = epoch.free.size();
  if (holder.shard) {
    if (!epoch.free[*holder.shard].empty()) return holder.shard;
    const std::size_t next = (*holder.shard + 1) % shards;
    if (!epoch.free[next].empty() && readers_[next] == 0) return next;
  }
  std::uint64_t start = 0;
  std::memcpy(&start, peer.bytes.data(), sizeof start);
  std::optional<std::size_t> best;
  double most = 0;
  for (std::size_t i = 0; i < shards; ++i) {
    const std::size_t shard = (start % shards + i) % shards;
    const double left = static_cast<double>(epoch.free[shard].size()) / (1 + readers_[shard]);
    if (left <= most) continue;
    most = left;
    best = shard;
  }
  return best;
}

std::map<std::int64_t, LeaseBook::Epoch>::iterator LeaseBook::epoch_for(const PeerId& peer, const Holder& holder) {
  auto entry = epochs_.begin();
  if (fruitless_.contains(peer) && !epochs_.empty()) entry = std::prev(epochs_.end());
  while (entry != epochs_.end() && !choose_shard(entry->second, peer, holder)) ++entry;
  if (entry != epochs_.end()) return entry;
  open(next_epoch_);
  return std::prev(epochs_.end());
}

std::pair<std::int64_t, Interval> LeaseBook::take_free(const PeerId& peer, Holder& holder, SampleCount most) {
  const auto entry = epoch_for(peer, holder);
  const std::optional<std::size_t> shard = choose_shard(entry->second, peer, holder);
  if (holder.shard != shard) read(holder, shard);
  IntervalSet& free = entry->second.free[*shard];
  Interval taken = free.front();
  taken.end = std::min(taken.end, taken.first + most);
  free.remove(taken);
  return {entry->first, taken};
}

std::optional<LeasesDealt> LeaseBook::deal(const LeaseHolder& who, SampleCount next_draw, SampleCount wanted,
                                           RoundIndex round) {
  Holder& holder = holders_[who.peer];
  SampleCount has = 0;
  std::size_t leases = 0;
  for (const Lease& lease : holder.leases) {
    if (lease.process != who.process || lease.terms.last_round <= round || end_of(lease.terms) <= next_draw) continue;
    has += end_of(lease.terms) - std::max(next_draw, lease.terms.number);
    ++leases;
  }
  if (2 * has >= wanted) return std::nullopt;
  LeasesDealt dealt{who.peer, who.process, {}};
  SampleCount number = std::max<SampleCount>(1, next_draw);
  if (!holder.leases.empty()) number = std::max(number, end_of(holder.leases.back().terms));
  if (holder.leases.size() > kHeldMax) return std::nullopt;
  const std::size_t pieces = std::min(kPiecesAtOnceMax, wire::kLeasesMax - std::min(leases, wire::kLeasesMax));
  int doubtful = 0;
  while (has < wanted && dealt.leases.size() < pieces && number <= wire::kDrawMax / 2) {
    const SampleCount most = (wanted - has + piece_ - 1) / piece_ * piece_;
    auto taken = doubtful < kDoubtfulAtOnce ? take_doubtful(who.account, most) : std::nullopt;
    const RoundIndex rounds = taken ? kDoubtfulLeaseRounds : kLeaseRounds;
    doubtful = taken ? doubtful + 1 : kDoubtfulAtOnce;
    if (!taken) taken = take_free(who.peer, holder, most);
    const auto& [epoch, places] = *taken;
    const SampleCount count = places.end - places.first;
    const wire::SampleLease lease{number, epoch, places.first, count, round + rounds};
    holder.leases.push_back({lease, who.process, false});
    dealt.leases.push_back(lease);
    number += count;
    has += count;
  }
  return dealt.leases.empty() ? std::nullopt : std::optional(std::move(dealt));
}

void LeaseBook::on_stored(const LeasesDealt& dealt) {
  const auto holder = holders_.find(dealt.peer);
  if (holder == holders_.end()) return;
  for (Lease& lease : holder->second.leases) {
    const bool is_it = std::find(dealt.leases.begin(), dealt.leases.end(), lease.terms) != dealt.leases.end();
    lease.stored = lease.stored || is_it;
  }
}

void LeaseBook::on_refused(const LeasesDealt& dealt) {
  const auto holder = holders_.find(dealt.peer);
  if (holder == holders_.end()) return;
  std::erase_if(holder->second.leases, [&](const Lease& lease) {
    const bool is_it = std::find(dealt.leases.begin(), dealt.leases.end(), lease.terms) != dealt.leases.end();
    if (is_it) release(lease);
    return is_it;
  });
}

std::vector<wire::SampleLease> LeaseBook::held(const PeerId& peer, std::int64_t process, SampleCount next_draw,
                                               RoundIndex round) const {
  std::vector<wire::SampleLease> leases;
  const auto holder = holders_.find(peer);
  if (holder == holders_.end()) return leases;
  for (const Lease& lease : holder->second.leases) {
    const bool of_use = lease.terms.last_round >= round && end_of(lease.terms) > next_draw;
    if (!lease.stored || lease.process != process || !of_use) continue;
    if (leases.size() < wire::kLeasesMax) leases.push_back(lease.terms);
  }
  return leases;
}

// Decides whether a sample that was tried without success is set aside now; counts it if few accounts report it.
bool LeaseBook::gives_up(Epoch& epoch, const Tries& tries) const {
  const std::size_t witnesses = accounts_of(tries);
  if (tries.size() < kWitnesses || witnesses < std::min(kWitnesses, accounts_)) return false;
  if (witnesses >= kWitnesses) return true;
  const SampleCount few = std::max(kSetAsideByFewMax, shard_ends_.back() / kSamplesPerSetAside);
  if (epoch.set_aside_by_few >= few) return false;
  ++epoch.set_aside_by_few;
  return true;
}

LeaseBook::PassedOver LeaseBook::pass_over(const LeaseHolder& who, const std::vector<SampleCount>& draws) {
  PassedOver passed;
  const auto holder = holders_.find(who.peer);
  if (holder == holders_.end()) return passed;
  for (Lease& lease : holder->second.leases) {
    Epoch* epoch = lease.stored && lease.process == who.process ? find(lease.terms.epoch) : nullptr;
    if (epoch == nullptr) continue;
    for (const SampleCount draw : draws) {
      const std::int64_t place = lease.terms.first + (draw - lease.terms.number);
      const Interval sample{place, place + 1};
      if (draw < lease.terms.number || draw >= end_of(lease.terms) || epoch->uncounted.common(sample).empty()) continue;
      if (epoch->tries.size() >= kTriedMax && !epoch->tries.contains(place)) continue;
      if (!lease.passed.insert(draw).second) continue;
      Tries& tries = epoch->tries[place];
      tries.insert({who.account, lease.terms.last_round});
      if (!gives_up(*epoch, tries)) {
        epoch->doubtful.add(sample);
        passed.tried.tries.push_back({who.peer, who.account, lease.terms.epoch, place, lease.terms.last_round});
        continue;
      }
      epoch->uncounted.remove(sample);
      epoch->tries.erase(place);
      passed.set_aside.push_back({lease.terms.epoch, place});
    }
  }
  if (!epochs_.empty()) passed.tried.oldest_epoch = epochs_.begin()->first;
  return passed;
}

std::optional<std::pair<std::int64_t, Interval>> LeaseBook::take_doubtful(AccountId account, SampleCount most) {
  for (auto& [number, epoch] : epochs_) {
    if (epoch.doubtful.empty()) continue;
    for (const auto& [place, tries] : epoch.tries) {
      const auto own = tries.lower_bound({account, 0});
      const bool tried = own != tries.end() && own->first == account;
      if (tried && accounts_of(tries) < std::min(kWitnesses, accounts_)) continue;
      const std::vector<Interval> there = epoch.doubtful.common({place, place + most});
      if (there.empty() || there.front().first != place) continue;
      // A lease stays within one shard.
      const Interval taken{place, std::min(there.front().end, shard_ends_[shard_of(place)])};
      epoch.doubtful.remove(taken);
      return std::pair(number, taken);
    }
  }
  return std::nullopt;
}

SampleCount LeaseBook::passed_over(RoundIndex round, const wire::Contribution& contribution) const {
  SampleCount passed = 0;
  const auto holder = holders_.find(contribution.peer);
  if (contribution.draw == 0 || holder == holders_.end()) return passed;
  for (const Lease& lease : holder->second.leases) {
    if (!lease.stored || lease.terms.last_round < round) continue;
    passed += std::distance(lease.passed.lower_bound(contribution.draw),
                            lease.passed.lower_bound(contribution.draw + contribution.samples));
  }
  return passed;
}

std::vector<DrawnSamples> LeaseBook::drawn_from(RoundIndex round, const PeerId& peer, SampleCount draw) const {
  std::vector<DrawnSamples> drawn;
  const auto holder = holders_.find(peer);
  if (draw == 0 || holder == holders_.end()) return drawn;
  for (const Lease& lease : holder->second.leases) {
    if (!lease.stored || lease.terms.last_round < round || end_of(lease.terms) <= draw) continue;
    if (lease.terms.number > draw) break;  // draws without a gap only
    const auto add = [&](SampleCount from, SampleCount to, bool passed_over) {
      const std::int64_t place = lease.terms.first + (from - lease.terms.number);
      if (from < to) drawn.push_back({{round, 0, place, to - from, lease.terms.epoch}, passed_over});
    };
    const SampleCount end = end_of(lease.terms);
    for (auto passed = lease.passed.lower_bound(draw); passed != lease.passed.end(); ++passed) {
      add(std::exchange(draw, *passed + 1), *passed, false);
      add(*passed, *passed + 1, true);
    }
    add(std::exchange(draw, end), end, false);
  }
  return drawn;
}

std::vector<CountedSamples> LeaseBook::count(RoundIndex round, const wire::Contribution& contribution) {
  std::vector<CountedSamples> counted;
  const auto holder = holders_.find(contribution.peer);
  if (contribution.draw == 0 || holder == holders_.end()) return counted;
  const SampleCount end = contribution.draw + contribution.samples;
  for (const Lease& lease : holder->second.leases) {
    if (!lease.stored || lease.terms.last_round < round) continue;
    const SampleCount from = std::max(contribution.draw, lease.terms.number);
    const SampleCount to = std::min(end, end_of(lease.terms));
    if (from >= to) continue;
    Epoch* epoch = find(lease.terms.epoch);
    if (epoch == nullptr) continue;
    for (SampleCount at = from; at < to; ++at) {
      const auto passed = lease.passed.lower_bound(at);
      const SampleCount until = passed == lease.passed.end() ? to : std::min(to, *passed);
      const std::int64_t place = lease.terms.first + (at - lease.terms.number);
      for (const Interval& piece : epoch->uncounted.remove({place, place + (until - at)})) {
        counted.push_back({contribution.peer, lease.terms.epoch, piece.first, piece.end - piece.first});
        epoch->tries.erase(epoch->tries.lower_bound(piece.first), epoch->tries.lower_bound(piece.end));
      }
      at = until;  // the holder has passed it over
    }
  }
  if (!counted.empty()) {
    holder->second.counted_in = round;
    fruitless_.erase(contribution.peer);
  }
  std::vector<CountedSamples>& pending = pending_[round];
  pending.insert(pending.end(), counted.begin(), counted.end());
  return counted;
}

void LeaseBook::on_round_stored(RoundIndex round) {
  pending_.erase(pending_.begin(), pending_.upper_bound(round));
  expire(round);
}

void LeaseBook::on_round_refused(RoundIndex round) {
  if (const auto pending = pending_.find(round); pending != pending_.end()) {
    for (const CountedSamples& counted : pending->second) {
      epochs_.at(counted.epoch).uncounted.add({counted.first, counted.first + counted.count});
    }
    pending_.erase(pending);
  }
  expire(round);
}

// Returns samples of the lease that have not been counted: they are free, or doubtful. Samples that were passed over
// are doubtful already, or others have them.
void LeaseBook::release(const Lease& lease) {
  Epoch* epoch = find(lease.terms.epoch);
  if (epoch == nullptr) return;
  IntervalSet left;
  for (const Interval& piece : epoch->uncounted.common(places_of(lease.terms))) left.add(piece);
  for (const SampleCount draw : lease.passed) {
    const std::int64_t place = lease.terms.first + (draw - lease.terms.number);
    left.remove({place, place + 1});
  }
  const auto end = epoch->tries.lower_bound(places_of(lease.terms).end);
  for (auto tried = epoch->tries.lower_bound(lease.terms.first); tried != end; ++tried) {
    for (const Interval& sample : left.remove({tried->first, tried->first + 1})) epoch->doubtful.add(sample);
  }
  for (const Interval& piece : left.common(places_of(lease.terms))) epoch->free[shard_of(piece.first)].add(piece);
}

void LeaseBook::expire(RoundIndex round) {
  for (auto entry = holders_.begin(); entry != holders_.end();) {
    Holder& holder = entry->second;
    std::erase_if(holder.leases, [&](const Lease& lease) {
      if (lease.terms.last_round > round) return false;
      if (holder.counted_in + kLeaseRounds < lease.terms.last_round) fruitless_.insert(entry->first);
      release(lease);
      return true;
    });
    if (holder.leases.empty()) read(holder, std::nullopt);
    entry = holder.leases.empty() ? holders_.erase(entry) : std::next(entry);
  }
  if (fruitless_.size() > kFruitlessMax) fruitless_.clear();
  const auto is_pending = [this](std::int64_t epoch) {
    return std::any_of(pending_.begin(), pending_.end(), [epoch](const auto& of_round) {
      return std::any_of(of_round.second.begin(), of_round.second.end(),
                         [epoch](const CountedSamples& counted) { return counted.epoch == epoch; });
    });
  };
  std::erase_if(epochs_, [&](const auto& entry) { return entry.second.uncounted.empty() && !is_pending(entry.first); });
}

}  // namespace starling::core
