// How far the members of a round are, as seen from here: what each has said about its result, what it still owes this
// member, and whether its link is up.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "client/averaging/recovery.h"
#include "client/averaging/roster.h"
#include "client/averaging/segment_table.h"
#include "shared/base/hash.h"

namespace starling::averaging {

class PeerProgress {
 public:
  // All outlive this object.
  PeerProgress(const SegmentTable& table, const Roster& roster, const Recovery& recovery)
      : table_(table), roster_(roster), recovery_(recovery), peers_(roster.size()) {}

  // The digest of this member's result, once everything is held here.
  void set_result(const Hash128& digest) { result_ = digest; }
  [[nodiscard]] const std::optional<Hash128>& result() const { return result_; }
  // The digest that the member sent when it was done.
  void set_done(Rank rank, const Hash128& digest) { peers_[rank].done = digest; }
  [[nodiscard]] const std::optional<Hash128>& done(Rank rank) const { return peers_[rank].done; }
  // This member starts to collect the result again: all digests are forgotten.
  void forget_results();

  // Wants are counted within a view: sent to the member, and not answered.
  void on_want_sent(Rank rank) { ++peers_[rank].wants_open; }
  void on_answered(Rank rank) { peers_[rank].wants_open -= peers_[rank].wants_open > 0 ? 1 : 0; }
  void forget_wants();

  // The link is gone. It counts as severed, unless the member needs nothing more and nothing more is needed from it.
  void on_link_lost(Rank rank);
  // A new process of the member has come.
  void on_return(Rank rank) { peers_[rank].severed = false; }
  // Nothing of the round can follow on another link.
  [[nodiscard]] bool severed(Rank rank) const { return peers_[rank].severed; }
  // The member left when it was done: its link is gone, but was not severed.
  void set_left(Rank rank) { peers_[rank].left = true; }
  [[nodiscard]] bool left(Rank rank) const { return peers_[rank].left; }

  // Both members hold equal results. While members are lost, the inventory of `rank` is needed as well.
  [[nodiscard]] bool finished_with(Rank rank) const;
  // The member is done, and everything that it had to send to this one has come. It need not give a sign of life
  // either: it is silent from the time it settles, however long other members' results take to come.
  [[nodiscard]] bool owes_nothing(Rank rank) const;
  [[nodiscard]] bool may_be_silent(Rank rank) const { return finished_with(rank) || owes_nothing(rank); }
  // The member owes an inventory or the answer to a want.
  [[nodiscard]] bool owes_answer(Rank rank) const {
    return peers_[rank].wants_open > 0 || (recovery_.in_view() && !recovery_.noted(rank));
  }
  // By rank: owners of segments that are not held here, which are the planned owners, and the new owners of orphans.
  [[nodiscard]] std::vector<bool> owing_results() const;

 private:
  struct Peer {
    std::optional<Hash128> done;
    std::uint32_t wants_open = 0;
    bool left = false;
    bool severed = false;
  };

  const SegmentTable& table_;
  const Roster& roster_;
  const Recovery& recovery_;
  std::vector<Peer> peers_;  // by rank
  std::optional<Hash128> result_;
};

}  // namespace starling::averaging
