// Which samples of which epoch are leased to whom, and which have been counted: each sample of an epoch counts exactly
// once, in the ledger's accepted contributions, however members come and go (wire::SampleLease says what members do).
//
// A sample is free, leased, or counted. Free ones are dealt, of the oldest epoch that has any, or of the newest to a
// member that brought nothing when it had its last: else it could keep an epoch from its end. When none is free the
// next epoch is opened, so nobody waits for the last ones. A lease is good for a few rounds. A contribution that is
// accepted names its first draw, and its samples count if they are leased to that member for that round; whatever is
// left when the lease's last round is over is free again: of members that are gone, of gradients that were left out or
// came in part, of numbers that were never drawn. Time plays no part: as rounds never go back, nothing that is free
// can still be accepted.
//
// Faults of the coordinator. What is dealt is told when the store has it. What a round counts is written with its
// contributions, in one transaction, and what it sets free is dealt after that. So a coordinator that starts anew knows
// at least every lease that anybody holds, and nothing else that it dealt was ever told.
// While it is away, members go on with what they hold. When that is used up, they train on samples that count toward no
// epoch: a reserve that lasts for any absence would be the whole epoch, lost with every member that goes. Such
// contributions get credit as all others.
//
// Pure; not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "coordinator/core/interval_set.h"
#include "coordinator/core/types.h"

namespace starling::core {

class LeaseBook {
 public:
  // shard_samples: wire::epoch_samples. piece: leases are multiples of it where that is possible.
  LeaseBook(const std::vector<std::int64_t>& shard_samples, SampleCount piece, const RecoveredLeases& recovered);

  // Sees that the process holds about `wanted` samples, from its draw `next_draw` on, that are good for another round
  // than `round`. What has to be stored; nothing when it holds at least half of that.
  std::optional<LeasesDealt> deal(const PeerId& peer, std::int64_t process, SampleCount next_draw, SampleCount wanted,
                                  RoundIndex round);
  // The store has taken it: it may be told. Or never will: then it is as if it had not been dealt.
  void on_stored(const LeasesDealt& dealt);
  void on_refused(const LeasesDealt& dealt);
  // What the process holds and may be told, by number.
  [[nodiscard]] std::vector<wire::SampleLease> held(const PeerId& peer, std::int64_t process, SampleCount next_draw,
                                                    RoundIndex round) const;

  // What the accepted contribution counts. It does so for good with on_round_stored, or not at all.
  std::vector<CountedSamples> count(RoundIndex round, const wire::Contribution& contribution);
  // The store has taken the round, and all before it; or never will.
  void on_round_stored(RoundIndex round);
  void on_round_refused(RoundIndex round);

 private:
  struct Lease {
    wire::SampleLease terms;
    std::int64_t process = 0;
    bool stored = false;
  };
  struct Holder {
    std::vector<Lease> leases;  // by number
    std::optional<std::size_t> shard;
    RoundIndex counted_in = -1;  // the last round that counted any of them
  };
  struct Epoch {
    std::vector<IntervalSet> free;  // by shard
    IntervalSet uncounted;          // free or leased
  };
  Epoch& open(std::int64_t epoch);
  std::map<std::int64_t, Epoch>::iterator epoch_for(const PeerId& peer, const Holder& holder);
  // Null when all of it has been counted.
  Epoch* find(std::int64_t epoch);
  void release(const wire::SampleLease& lease);
  void expire(RoundIndex round);
  void read(Holder& holder, std::optional<std::size_t> shard);
  [[nodiscard]] std::size_t shard_of(std::int64_t place) const;
  // The next free samples for this holder, at most `most`, and their epoch.
  std::pair<std::int64_t, Interval> take_free(const PeerId& peer, Holder& holder, SampleCount most);
  [[nodiscard]] std::optional<std::size_t> choose_shard(const Epoch& epoch, const PeerId& peer,
                                                        const Holder& holder) const;

  const SampleCount piece_;
  std::vector<std::int64_t> shard_ends_;  // the place after each shard's last
  std::vector<int> readers_;              // by shard: holders that are dealt samples of it
  std::map<std::int64_t, Epoch> epochs_;  // not complete
  std::int64_t next_epoch_;
  std::map<PeerId, Holder> holders_;
  std::map<RoundIndex, std::vector<CountedSamples>> pending_;  // of rounds that the store has not taken
  std::set<PeerId> fruitless_;  // who had nothing counted while its last lease that is over was good
};

}  // namespace starling::core
