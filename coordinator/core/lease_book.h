// Leases samples of epochs to members and notes those that have been counted. Each sample of an epoch counts exactly
// once, in the ledger's accepted contributions, however members come and go (wire::SampleLease says what members do).
//
// A sample is free, leased, or counted. Free samples are dealt from the oldest epoch that has any. A member that had
// nothing counted under its last leases gets samples of the newest epoch: otherwise it could keep an epoch from its
// end. When no sample is free the next epoch is opened, so nobody waits for the last ones. A lease is good for a few
// rounds. A contribution that is accepted names its first draw, and its samples count if they are leased to that member
// for that round. Samples that are not counted are free again when the lease's last round is over: those of members
// that are gone, of gradients that were left out or came in part, of numbers that were never drawn. Time plays no part:
// rounds never go back, so nothing that is free can still be accepted.
//
// A sample whose gradient cannot be had would keep its epoch open for ever. Holders report such samples
// (wire::UnusableSamples). A report counts while the sample is leased to its sender, and the sender's gradient counts
// nothing for it. The sample is dealt at once to an account that has not tried it. It is set aside after three tries,
// of different accounts or rounds, by three accounts, or by all that are present if those are fewer. Fewer than three
// accounts can set only a few samples of an epoch aside, so that a liar cannot end an epoch. A sample that another
// member's gradient counts was not unusable: the reports about it are forgotten.
//
// Faults of the coordinator. A lease is announced when the store has it. The samples that a round counts are written
// with its contributions, in one transaction, and the samples that it sets free are dealt after that. So a coordinator
// that starts again knows every lease that any member holds, and no other lease that it dealt was ever announced. While
// it is away, members go on with the leases they hold. When those are used up they train on samples that count toward
// no epoch: a reserve that lasts for any absence would be the whole epoch, lost with every member that goes. Such
// contributions get credit like all others.
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

// The leases of a run, and the samples that they have brought.
class LeaseBook {
 public:
  static constexpr std::size_t kWitnesses = 3;  // for an unusable sample: the tries, and the accounts that report it

  // shard_samples: wire::epoch_samples. piece: leases are multiples of it where that is possible.
  LeaseBook(const std::vector<std::int64_t>& shard_samples, SampleCount piece, const RecoveredLeases& recovered);

  // Makes sure that the process holds about `wanted` samples, from its draw `next_draw` on, that are good for another
  // round than `round`. Returns the leases to store; nothing when it holds at least half of that.
  std::optional<LeasesDealt> deal(const LeaseHolder& holder, SampleCount next_draw, SampleCount wanted,
                                  RoundIndex round);
  // on_stored: the store has the leases, and they may be announced. on_refused: it never will, and they count as not
  // dealt.
  void on_stored(const LeasesDealt& dealt);
  void on_refused(const LeasesDealt& dealt);
  // Returns the leases that the process holds and may be told of, by number.
  [[nodiscard]] std::vector<wire::SampleLease> held(const PeerId& peer, std::int64_t process, SampleCount next_draw,
                                                    RoundIndex round) const;

  // Sets the number of accounts with computers that train now; beyond kWitnesses it makes no difference.
  void set_accounts(std::size_t accounts) { accounts_ = accounts; }
  // Notes that the holder could not use the samples that it drew by these numbers. Returns the rows to store: tries,
  // and the samples that they set aside.
  struct PassedOver {
    SamplesTried tried;
    std::vector<SampleSetAside> set_aside;
  };
  PassedOver pass_over(const LeaseHolder& holder, const std::vector<SampleCount>& draws);
  // Returns how many of the contribution's samples its member passed over: its gradient holds nothing of them.
  [[nodiscard]] SampleCount passed_over(RoundIndex round, const wire::Contribution& contribution) const;
  // Returns the samples that the member drew from this number on, as far as its leases go.
  [[nodiscard]] std::vector<DrawnSamples> drawn_from(RoundIndex round, const PeerId& peer, SampleCount draw) const;
  // Returns the samples that the accepted contribution counts. They count for good after on_round_stored, or not at
  // all.
  std::vector<CountedSamples> count(RoundIndex round, const wire::Contribution& contribution);
  // on_round_stored: the store has the round, and all before it. on_round_refused: it never will.
  void on_round_stored(RoundIndex round);
  void on_round_refused(RoundIndex round);

 private:
  struct Lease {
    wire::SampleLease terms;
    std::int64_t process = 0;
    bool stored = false;
    std::set<SampleCount> passed{};  // its numbers whose samples cannot be used
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
    std::map<std::int64_t, Tries> tries;  // failed tries, by place, of samples that are not counted
    IntervalSet doubtful;                 // tried samples that are not leased; they are not among the free ones
    SampleCount set_aside_by_few = 0;     // number set aside by fewer than kWitnesses accounts
  };
  void recover(const std::vector<SampleTried>& tried);
  [[nodiscard]] bool is_tried_now(std::int64_t epoch, std::int64_t place) const;
  Epoch& open(std::int64_t epoch);
  std::map<std::int64_t, Epoch>::iterator epoch_for(const PeerId& peer, const Holder& holder);
  // Returns null when all samples of the epoch have been counted or set aside.
  Epoch* find(std::int64_t epoch);
  void release(const Lease& lease);
  bool gives_up(Epoch& epoch, const Tries& tries) const;
  void expire(RoundIndex round);
  void read(Holder& holder, std::optional<std::size_t> shard);
  [[nodiscard]] std::size_t shard_of(std::int64_t place) const;
  // Takes samples that others have tried without success and this account has not, unless all have; at most `most`,
  // with their epoch.
  std::optional<std::pair<std::int64_t, Interval>> take_doubtful(AccountId account, SampleCount most);
  // Takes the next free samples for this holder, at most `most`, with their epoch.
  std::pair<std::int64_t, Interval> take_free(const PeerId& peer, Holder& holder, SampleCount most);
  [[nodiscard]] std::optional<std::size_t> choose_shard(const Epoch& epoch, const PeerId& peer,
                                                        const Holder& holder) const;

  const SampleCount piece_;
  std::vector<std::int64_t> shard_ends_;  // the place after the last of each shard
  std::vector<int> readers_;              // number of holders that are dealt samples of a shard, by shard
  std::map<std::int64_t, Epoch> epochs_;  // not complete
  std::int64_t next_epoch_;
  std::size_t accounts_ = 1;
  std::map<PeerId, Holder> holders_;
  std::map<RoundIndex, std::vector<CountedSamples>> pending_;  // by round that the store has not taken yet
  std::set<PeerId> fruitless_;  // members with nothing counted while their last ended lease was good
};

}  // namespace starling::core
