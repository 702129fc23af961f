// The machine behind AllReduce: the rules by which its parts change. Each event changes some of them, and every
// consequence of the change is carried out before the call returns.
//   table, values, sums        segments: who holds them, their floats, the sums formed here
//   bound                      how much of a contribution goes into a sum
//   roster, progress, losses   members: who they are, how far they are, who is lost
//   accusations                what members have signed about each other
//   recovery                   segments of lost owners
//   begins, seals              what members have signed: their begins, and the parts that they own
//   outbox, patience           frames to send, and limits to wait for
//   late                       the rest of the round for a member that the others go on without
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/averaging/accusations.h"
#include "client/averaging/all_reduce.h"
#include "client/averaging/begins.h"
#include "client/averaging/late_member.h"
#include "client/averaging/losses.h"
#include "client/averaging/norm_bound.h"
#include "client/averaging/outbox.h"
#include "client/averaging/patience.h"
#include "client/averaging/peer_progress.h"
#include "client/averaging/recovery.h"
#include "client/averaging/roster.h"
#include "client/averaging/round_values.h"
#include "client/averaging/seals.h"
#include "client/averaging/segment_table.h"
#include "client/averaging/sums.h"

namespace starling::averaging {

class AllReduce::Impl {
 public:
  Impl(wire::GroupInfo group, Rank self, const RoundVectors& vectors, const AllReduceOptions& options);

  void start(TimePoint now);
  bool next_frame(TimePoint now, Rank to, OutgoingFrame& frame);
  [[nodiscard]] Outbox& outbox() { return outbox_; }
  Status on_frame(TimePoint now, Rank from, const wire::FrameHeader& header, std::span<const std::uint8_t> payload);
  void on_link_lost(TimePoint now, Rank peer, std::string reason, std::optional<wire::Fault> fault);
  void on_timer(TimePoint now);
  [[nodiscard]] TimePoint next_deadline() const { return patience_.wake_at(); }
  [[nodiscard]] bool finished_with(Rank rank) const { return progress_.finished_with(rank); }
  [[nodiscard]] const AveragingOutcome* outcome() const { return outcome_ ? &*outcome_ : nullptr; }
  [[nodiscard]] std::span<const std::uint8_t> note(Rank rank) const {
    return rank == self_ ? values_.vectors().note : begins_.note(rank);
  }

 private:
  using Payload = std::span<const std::uint8_t>;
  using Verdict = AveragingOutcome::Verdict;

  // -- all_reduce.cpp: losses, closing segments, settling, time
  void lose(TimePoint now, const std::vector<LostMember>& casualties);
  bool mark_lost(const LostMember& casualty);
  // Acts on what members have said of each other, until nothing more follows from it.
  void judge_accusations(TimePoint now);
  // Once everybody has begun: adds what waited for that, and closes every open sum that waits for nobody.
  void close_complete(TimePoint now);
  void close(SegmentIndex segment);
  void hold(SegmentIndex segment, Payload contributors, const Hash128& digest);
  // Acts on complete inventories: passes on, asks or adopts orphans.
  void recover(TimePoint now);
  void check_settled(TimePoint now);
  // Not all results are equal.
  void settle_dispute(TimePoint now, std::vector<LostMember> different);
  void settle(TimePoint now, Verdict verdict);
  void fall_behind(TimePoint now, std::string why);
  void settle_late(TimePoint now);
  void notice_oversleeping(TimePoint now);
  void leave_stragglers_behind(TimePoint now);

  // -- all_reduce_receive.cpp: handling of each frame
  Status receive(TimePoint now, Rank from, const wire::FrameHeader& header, Payload payload);
  Status on_begin(TimePoint now, Rank from, Payload payload);
  Status on_late_begin(Rank from, Payload payload);
  // A frame on another link than the lost one.
  Status on_return(TimePoint now, Rank from, const wire::FrameHeader& header, Payload payload);
  Status on_contribution(TimePoint now, Rank from, SegmentIndex segment, Payload payload);
  void add_waiting(TimePoint now);
  Status on_result(TimePoint now, Rank from, SegmentIndex segment, Payload payload);
  Status on_want(Rank from, SegmentIndex segment);
  Status on_inventory(TimePoint now, Rank from, Payload payload);
  // Somebody's signed lost set, from itself or passed on.
  Status on_lost_set(TimePoint now, Rank from, const wire::LostSet& said);
  Status on_done(TimePoint now, Rank from, Payload payload);
  Status on_seal(TimePoint now, Rank from, Payload payload);
  // Members that the round goes on without ask for its result.
  Status on_listen(TimePoint now, Rank from);
  Status on_late_want(Rank from, SegmentIndex segment);

  // -- all_reduce_send.cpp: outbox items become frames
  void compose(const OutboxItem& item, Rank to, OutgoingFrame& frame);

  wire::GroupInfo group_;
  Rank self_;
  AllReduceOptions options_;

  SegmentTable table_;
  RoundValues values_;
  Roster roster_;
  Begins begins_;
  Sums sums_;
  NormBound bound_;
  Recovery recovery_;
  Seals seals_;
  Outbox outbox_;
  PeerProgress progress_;
  Losses losses_;
  Patience patience_;
  Accusations accusations_;
  LateMember late_;

  std::optional<TimePoint> started_at_;
  struct {
    std::int64_t sent = 0;
    std::int64_t received = 0;
  } bytes_;
  std::optional<AveragingOutcome> outcome_;
};

}  // namespace starling::averaging
