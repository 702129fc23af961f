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
// A sample whose gradient can not be had would keep its epoch open for ever. Holders say which those are
// (wire::UnusableSamples); that counts while they are leased to them, and what a gradient has of such a one counts
// nothing. It is dealt at once to an account that has not tried it. After three tries, of different accounts or rounds,
// by three accounts, or by all that are there when those are fewer, it is set aside. What fewer than three accounts say
// sets few samples of an epoch aside, so that who lies can not end an epoch. A sample that another's gradient counts
// was not unusable: what was said of it is forgotten.
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

// One process of a computer of an account.
struct LeaseHolder {
  PeerId peer;
  AccountId account = 0;
  std::int64_t process = 0;
};

class LeaseBook {
 public:
  static constexpr std::size_t kWitnesses = 3;  // of an unusable sample: tries, and accounts that say so

  // shard_samples: wire::epoch_samples. piece: leases are multiples of it where that is possible.
  LeaseBook(const std::vector<std::int64_t>& shard_samples, SampleCount piece, const RecoveredLeases& recovered);

  // Sees that the process holds about `wanted` samples, from its draw `next_draw` on, that are good for another round
  // than `round`. What has to be stored; nothing when it holds at least half of that.
  std::optional<LeasesDealt> deal(const LeaseHolder& holder, SampleCount next_draw, SampleCount wanted,
                                  RoundIndex round);
  // The store has taken it: it may be told. Or never will: then it is as if it had not been dealt.
  void on_stored(const LeasesDealt& dealt);
  void on_refused(const LeasesDealt& dealt);
  // What the process holds and may be told, by number.
  [[nodiscard]] std::vector<wire::SampleLease> held(const PeerId& peer, std::int64_t process, SampleCount next_draw,
                                                    RoundIndex round) const;

  // So many accounts have computers there that train; beyond kWitnesses it makes no difference.
  void set_accounts(std::size_t accounts) { accounts_ = accounts; }
  // The holder could not use the samples that it drew by these numbers. What is to be stored of that: tries, and what
  // they set aside.
  struct PassedOver {
    SamplesTried tried;
    std::vector<SampleSetAside> set_aside;
  };
  PassedOver pass_over(const LeaseHolder& holder, const std::vector<SampleCount>& draws);
  // Of the contribution's samples, those that its member passed over: it has nothing of them.
  [[nodiscard]] SampleCount passed_over(RoundIndex round, const wire::Contribution& contribution) const;
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
    std::set<SampleCount> passed{};  // of its numbers, those whose samples can not be used
  };
  struct Holder {
    std::vector<Lease> leases;  // by number
    std::optional<std::size_t> shard;
    RoundIndex counted_in = -1;  // the last round that counted any of them
  };
  using Tries = std::set<std::pair<AccountId, RoundIndex>>;
  struct Epoch {
    std::vector<IntervalSet> free;        // by shard
    IntervalSet uncounted;                // free or leased
    std::map<std::int64_t, Tries> tries;  // in vain, by place, of what is not counted
    IntervalSet doubtful;                 // of these, what is not leased; it is not among the free ones
    SampleCount set_aside_by_few = 0;     // by fewer than kWitnesses accounts
  };
  void recover(const std::vector<SampleTried>& tried);
  [[nodiscard]] bool is_tried_now(std::int64_t epoch, std::int64_t place) const;
  Epoch& open(std::int64_t epoch);
  std::map<std::int64_t, Epoch>::iterator epoch_for(const PeerId& peer, const Holder& holder);
  // Null when all of it has been counted or set aside.
  Epoch* find(std::int64_t epoch);
  void release(const Lease& lease);
  bool gives_up(Epoch& epoch, const Tries& tries) const;
  void expire(RoundIndex round);
  void read(Holder& holder, std::optional<std::size_t> shard);
  [[nodiscard]] std::size_t shard_of(std::int64_t place) const;
  // Samples that others have tried in vain, and this account has not unless all have; at most `most`, and their epoch.
  std::optional<std::pair<std::int64_t, Interval>> take_doubtful(AccountId account, SampleCount most);
  // The next free samples for this holder, at most `most`, and their epoch.
  std::pair<std::int64_t, Interval> take_free(const PeerId& peer, Holder& holder, SampleCount most);
  [[nodiscard]] std::optional<std::size_t> choose_shard(const Epoch& epoch, const PeerId& peer,
                                                        const Holder& holder) const;

  const SampleCount piece_;
  std::vector<std::int64_t> shard_ends_;  // the place after each shard's last
  std::vector<int> readers_;              // by shard: holders that are dealt samples of it
  std::map<std::int64_t, Epoch> epochs_;  // not complete
  std::int64_t next_epoch_;
  std::size_t accounts_ = 1;
  std::map<PeerId, Holder> holders_;
  std::map<RoundIndex, std::vector<CountedSamples>> pending_;  // of rounds that the store has not taken
  std::set<PeerId> fruitless_;  // who had nothing counted while its last lease that is over was good
};

}  // namespace starling::core
