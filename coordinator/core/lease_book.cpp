#include "coordinator/core/lease_book.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "shared/base/permutation.h"
#include "shared/base/verify.h"

namespace starling::core {
namespace {

// A member that is gone keeps its samples from the others for so long; one that the plan leaves out for a round, or
// that the coordinator does not hear of for a round or two, still has some.
constexpr RoundIndex kLeaseRounds = 3;
constexpr std::size_t kPiecesAtOnceMax = 16;
constexpr std::size_t kFruitlessMax = 4096;
constexpr std::size_t kHeldMax = 4 * wire::kLeasesMax;  // of all processes of a member

Interval places_of(const wire::SampleLease& lease) { return {lease.first, lease.first + lease.count}; }
SampleCount end_of(const wire::SampleLease& lease) { return lease.number + lease.count; }

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

// Its own as long as that lasts; then the next, which it has fetched meanwhile, unless others read that; then whichever
// has most left for each of its readers.
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

std::optional<LeasesDealt> LeaseBook::deal(const PeerId& peer, std::int64_t process, SampleCount next_draw,
                                           SampleCount wanted, RoundIndex round) {
  Holder& holder = holders_[peer];
  SampleCount has = 0;
  std::size_t leases = 0;
  for (const Lease& lease : holder.leases) {
    if (lease.process != process || lease.terms.last_round <= round || end_of(lease.terms) <= next_draw) continue;
    has += end_of(lease.terms) - std::max(next_draw, lease.terms.number);
    ++leases;
  }
  if (2 * has >= wanted) return std::nullopt;
  LeasesDealt dealt{peer, process, {}};
  SampleCount number = std::max<SampleCount>(1, next_draw);
  if (!holder.leases.empty()) number = std::max(number, end_of(holder.leases.back().terms));
  if (holder.leases.size() > kHeldMax) return std::nullopt;
  const std::size_t pieces = std::min(kPiecesAtOnceMax, wire::kLeasesMax - std::min(leases, wire::kLeasesMax));
  while (has < wanted && dealt.leases.size() < pieces && number <= wire::kDrawMax / 2) {
    const SampleCount most = (wanted - has + piece_ - 1) / piece_ * piece_;
    const auto [epoch, places] = take_free(peer, holder, most);
    const SampleCount count = places.end - places.first;
    const wire::SampleLease lease{number, epoch, places.first, count, round + kLeaseRounds};
    holder.leases.push_back({lease, process, false});
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
    if (is_it) release(lease.terms);
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
    const std::int64_t place = lease.terms.first + (from - lease.terms.number);
    Epoch* epoch = find(lease.terms.epoch);
    if (epoch == nullptr) continue;
    for (const Interval& piece : epoch->uncounted.remove({place, place + (to - from)})) {
      counted.push_back({contribution.peer, lease.terms.epoch, piece.first, piece.end - piece.first});
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

// What of it has not been counted is free.
void LeaseBook::release(const wire::SampleLease& lease) {
  Epoch* epoch = find(lease.epoch);
  if (epoch == nullptr) return;
  for (const Interval& piece : epoch->uncounted.common(places_of(lease))) epoch->free[shard_of(piece.first)].add(piece);
}

void LeaseBook::expire(RoundIndex round) {
  for (auto entry = holders_.begin(); entry != holders_.end();) {
    Holder& holder = entry->second;
    std::erase_if(holder.leases, [&](const Lease& lease) {
      if (lease.terms.last_round > round) return false;
      if (holder.counted_in + kLeaseRounds < lease.terms.last_round) fruitless_.insert(entry->first);
      release(lease.terms);
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
