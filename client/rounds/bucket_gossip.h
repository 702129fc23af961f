// Gossip between two rounds: while a volunteer steps by itself, its parameters are averaged with those of one other or
// a few, again and again (decentralized Adam, "communicate while adapting": Wang et al., ICLR 2025, arXiv 2410.11998)
//   x_i <- sum_j W_ij x_j - eta d_i(g_i(x_i))
// bucket by bucket (shared/run/buckets.h), each by itself. When a bucket has stepped, it is *sent out*: as its
// displacement from the agreed parameters, which all have. While that is averaged with the partners', batches go on.
// Right after the first step that ends afterwards, the change that the gossip made is *taken in*: averaged minus sent,
// so that no step in between is lost. If lines are faster than batches this is the equation above, once a batch; if
// not, batches wait for no line, and gossip is rarer. Moments stay local. Averages other than such plain means are in
// client/optim/gossip_step.h.
//
// The meetings of a bucket in a round are numbered. The members of each follow from the members of the round before and
// its number (shared/swarm/gossip_groups.h). A meeting waits for members that have not come yet, but no longer than
// such meetings take; a member that missed one is hardly waited for the next time. A member that comes late hears that
// the others have gone on, and passes to the next number at once, with the vector it has sent out already. A member
// that met nobody keeps its own vector. Where there are many batches between two meetings, a meeting waits for about as
// many: nothing else waits for it.
//
// Pure and single-threaded, like the session.
#pragma once

#include <optional>
#include <set>
#include <span>

#include "client/averaging/all_reduce.h"
#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/protocol/group_info.h"
#include "shared/run/buckets.h"
#include "shared/run/run_manifest.h"
#include "shared/swarm/gossip_groups.h"
#include "shared/swarm/gossip_interval.h"

namespace starling::rounds {

class BucketGossip {
 public:
  // options.partners is there.
  BucketGossip(const wire::LocalOptions& options, const PeerId& self, const wire::Bucket& bucket);

  // These members of the plan have averaged together: the next round's gossip begins.
  void begin_round(TimePoint now, const wire::GroupInfo& last, std::span<const PeerId> members, RoundIndex round,
                   const Digest& state);
  // Drops the meeting under way. Nothing is averaged until the next round.
  void end_round() { groups_.reset(), forget(); }

  struct Order {
    bool take_in = false;   // comes before send_out, if both are set
    bool send_out = false;  // the meeting before is over: its vectors are free
    bool measure = false;   // measures how far own parameters are from those taken in
  };
  Order on_stepped(TimePoint now);
  // The bucket has been sent out as ordered. Returns the group to average it with now, if any.
  std::optional<swarm::GossipGroup> on_sent_out(TimePoint now);
  // The order has been carried out. `distance` is how far the own bucket was from the average that was taken in, over
  // its length.
  void on_measured(double distance) { interval_.on_mixed(distance, met_members_, met_after_); }
  // At a round's end: how far own parameters were from the average of this number of members, over its length. It
  // stands in for the distances of meetings, if there were none.
  void on_averaged(double distance, int members);
  // Forgets the vector that was sent: it is no longer part of own parameters, because the trainer started again.
  void forget();
  // Ends the meeting with this id. Returns a group if the vector that was sent out is to be averaged there, now.
  std::optional<swarm::GossipGroup> on_mixed(TimePoint now, const GroupId& id,
                                             const averaging::AveragingOutcome& outcome);

  // The count over all rounds.
  [[nodiscard]] std::int64_t mixed() const { return counts_.mixed; }
  [[nodiscard]] std::int64_t missed() const { return counts_.missed; }  // meetings to which nobody else came

 private:
  enum class Stage : std::uint8_t { nothing, sending, meeting, arrived };
  struct Counts {
    std::int64_t mixed = 0;
    std::int64_t missed = 0;
  };

  std::optional<swarm::GossipGroup> next(TimePoint now);
  [[nodiscard]] Duration patience() const;

  wire::GossipPartners partners_;
  PeerId self_;
  wire::Bucket bucket_;
  swarm::GossipInterval interval_;
  std::optional<swarm::GossipGroups> groups_;  // none: there is no gossip now
  Stage stage_ = Stage::nothing;
  wire::GroupInfo meeting_;
  int since_sent_ = 0;         // batches begun since own parameters were sent out last
  int since_taken_ = 0;        // batches begun since an average was taken in
  bool none_taken_ = true;     // nothing has been taken in in this round
  int met_after_ = 0;          // batches between the last two averages taken in
  int met_members_ = 2;        // members in the last meeting
  int tries_ = 0;              // meetings tried with the vector that was sent out last
  TimePoint met_at_{};         // when the meeting under way began
  TimePoint not_before_{};     // when the next meeting may begin
  TimePoint last_step_{};      // the last step, or the round's start
  Duration batch_{};           // from one step to the next one
  Duration meeting_time_{};    // duration of the last meeting, waiting included
  std::set<PeerId> absent_{};  // members that did not come to the last meeting with this one
  Counts counts_;
};

}  // namespace starling::rounds
