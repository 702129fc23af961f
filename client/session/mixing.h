// Mixing between two rounds: while a volunteer steps by itself, its parameters are averaged with those of one other or
// a few, again and again (decentralized Adam, "communicate while adapting": Wang et al., ICLR 2025, arXiv 2410.11998)
//   x_i <- sum_j W_ij x_j - eta d_i(g_i(x_i))
// bucket by bucket (shared/wire/buckets.h), each by itself. When a bucket has stepped, it is *sent out*: as its way
// from the agreed parameters, which all have. While that is mixed with the partners', batches go on. Right after the
// first step that ends afterwards, what the mixing has changed is *taken in*: mixed minus sent, so that no step in
// between is lost. If lines are faster than batches this is the equation above, once a batch; if not, batches wait for
// no line, and mixings are rarer. Moments stay where they are. Others than such plain means are
// client/optim/mixing_step.h.
//
// Mixings of a bucket in a round are numbered, and who meets in one follows from the members of the round before and
// its number (shared/swarm/mixing_groups.h). A meeting waits for whoever has not come yet, but no longer than such
// meetings take; who has not come is hardly waited for the next time. Whoever comes late is told that the others have
// gone on, and passes to the next number at once, with what it has sent out already. Whoever has met nobody keeps what
// it has. Where there are many batches between two mixings, a meeting waits for about as many: nothing else waits for
// it.
//
// Pure and single-threaded, as the session.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>

#include "client/averaging/all_reduce.h"
#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/swarm/mixing_groups.h"
#include "shared/swarm/mixing_interval.h"
#include "shared/wire/buckets.h"
#include "shared/wire/group_info.h"
#include "shared/wire/run_manifest.h"

namespace starling::session {

class Mixing {
 public:
  // options.partners is not empty.
  Mixing(const wire::LocalOptions& options, const PeerId& self, const wire::Bucket& bucket);

  // These members of the plan have averaged together: the next round's mixings begin.
  void begin_round(TimePoint now, const wire::GroupInfo& last, std::span<const PeerId> members, RoundIndex round,
                   const Digest& state);
  // What is under way is of no use any more. Nothing is mixed until the next round.
  void end_round() { groups_.reset(), forget(); }

  struct Order {
    bool take_in = false;   // before that, if both
    bool send_out = false;  // the mixing before is over: its vectors are free
    bool measure = false;   // how far own parameters are from what is taken in
  };
  Order on_stepped(TimePoint now);
  // The bucket has been sent out as ordered: where it is to be mixed now, if anywhere.
  std::optional<swarm::MixingGroup> on_sent_out(TimePoint now);
  // As ordered: what was taken in, how far the own bucket was from it, over its length.
  void on_measured(double distance) { interval_.on_mixed(distance, met_members_, met_after_); }
  // At a round's end: how far own parameters were from the average of so many, over its length. That tells what mixings
  // would have to, if there were none.
  void on_averaged(double distance, int members);
  // What was sent is no longer part of own parameters: the trainer began anew.
  void forget();
  // Of the mixing with this id. A group: what was sent out is to be mixed there, now.
  std::optional<swarm::MixingGroup> on_mixed(TimePoint now, const GroupId& id,
                                             const averaging::AveragingOutcome& outcome);

  // Of all rounds.
  [[nodiscard]] std::int64_t mixed() const { return mixed_; }
  [[nodiscard]] std::int64_t missed() const { return missed_; }  // nobody else came

 private:
  enum class Stage : std::uint8_t { nothing, sending, meeting, arrived };

  std::optional<swarm::MixingGroup> next(TimePoint now);
  [[nodiscard]] Duration patience() const;

  std::string partners_;
  PeerId self_;
  wire::Bucket bucket_;
  swarm::MixingInterval interval_;
  std::optional<swarm::MixingGroups> groups_;  // none: nothing is mixed now
  Stage stage_ = Stage::nothing;
  wire::GroupInfo meeting_;
  int since_sent_ = 0;         // batches begun since own parameters were sent out last
  int since_taken_ = 0;        // and since a mixing was taken in
  bool none_taken_ = true;     // in this round
  int met_after_ = 0;          // batches between the last two that were
  int met_members_ = 2;        // in the last one
  int tries_ = 0;              // of what was sent out last
  TimePoint met_at_{};         // the meeting under way began
  TimePoint not_before_{};     // the next mixing
  TimePoint last_step_{};      // or the round's begin
  Duration batch_{};           // from one step to the next one
  Duration mixing_{};          // the last one, waiting included
  std::set<PeerId> absent_{};  // did not come to the last meeting with this member
  std::int64_t mixed_ = 0;
  std::int64_t missed_ = 0;
};

}  // namespace starling::session
