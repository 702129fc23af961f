// The machine behind AllReduce. Each event changes the parts of the state (segment table, roster, sums, recovery,
// outbox, watch), and every consequence of the change is carried out before the call returns.
//   all_reduce.cpp            start, losses, closing segments, settling
//   all_reduce_receive.cpp    handling of each frame
//   all_reduce_send.cpp       outbox items become frames
//   all_reduce_time.cpp       members that need not be waited for any longer
//   all_reduce_late.cpp       results for members that the round went on without
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/averaging/all_reduce.h"
#include "client/averaging/codec.h"
#include "client/averaging/encoded_results.h"
#include "client/averaging/outbox.h"
#include "client/averaging/recovery.h"
#include "client/averaging/roster.h"
#include "client/averaging/segment_table.h"
#include "client/averaging/sums.h"
#include "client/averaging/watch.h"

namespace starling::averaging {

class AllReduce::Impl {
 public:
  Impl(wire::GroupInfo group, Rank self, const RoundVectors& vectors, const AllReduceOptions& options);

  void start(TimePoint now);
  bool next_frame(TimePoint now, Rank to, OutgoingFrame& frame);
  std::vector<Rank> take_ready() { return outbox_.take_ready(); }
  [[nodiscard]] bool has_ready() const { return outbox_.has_ready(); }
  Status on_frame(TimePoint now, Rank from, const wire::FrameHeader& header, std::span<const std::uint8_t> payload);
  void on_link_lost(TimePoint now, Rank peer, std::string reason, std::optional<wire::Fault> fault);
  void on_timer(TimePoint now);
  [[nodiscard]] TimePoint next_deadline() const { return next_tick_; }
  [[nodiscard]] bool finished_with(Rank rank) const;
  // `rank` is done, and everything that it had to send to this member has come.
  [[nodiscard]] bool owes_nothing(Rank rank) const;
  [[nodiscard]] bool silent_by_right(Rank rank) const { return finished_with(rank) || owes_nothing(rank); }
  [[nodiscard]] const AveragingOutcome* outcome() const { return outcome_ ? &*outcome_ : nullptr; }
  [[nodiscard]] std::span<const std::uint8_t> note(Rank rank) const {
    return rank == self_ ? vectors_.note : peers_[rank].note;
  }

 private:
  using Payload = std::span<const std::uint8_t>;
  using Verdict = AveragingOutcome::Verdict;

  // This member's own bookkeeping about each member, by rank, beside the roster's.
  struct Peer {
    bool awaited = false;          // live, begun, contributes, not left behind
    SegmentIndex contributed = 0;  // segments of the part owned here that it has contributed to
    std::uint32_t wants_open = 0;  // wants sent to it and not answered, in this view
    std::optional<Hash128> done;   // the digest it sent
    bool left = false;             // its link is gone, and was after it was done
    bool severed = false;          // its link was gone before: nothing of the round can follow on another link
    bool replaced = false;  // this member is late, and has asked another member for the results that this one owes it
    TimePoint suspect_at = kNever;  // its link is gone: complain about it at this time
    std::string suspicion;
    wire::Fault suspected = wire::Fault::gone;
    std::optional<wire::Fault> fault;      // a fault that this member saw itself
    EncodedResults::Bytes contribution{};  // the last contribution that was encoded for it
    std::vector<std::uint8_t> note;        // note from its begin
  };

  // -- all_reduce.cpp
  [[nodiscard]] std::span<float> output_of(SegmentIndex segment) const;
  [[nodiscard]] std::span<const float> input_of(SegmentIndex segment) const;
  void lose(TimePoint now, const std::vector<LostMember>& casualties);
  bool mark_lost(const LostMember& casualty);
  // Call it before the member is lost: notes the fault that this member itself saw.
  void witness(Rank rank, wire::Fault fault);
  [[nodiscard]] Hash128 values_digest(SegmentIndex segment) const;
  void stop_awaiting(Rank rank);
  [[nodiscard]] std::vector<LostMember> late_and_missing() const;
  // Closes every open sum that waits for nobody.
  void close_complete(TimePoint now);
  void close(SegmentIndex segment);
  // Replaces the output by the decoded form of its encoding. `weight`: of the sum whose mean the output is.
  void encode_result(SegmentIndex segment, SampleCount weight);
  void hold(SegmentIndex segment, Payload contributors, const Hash128& digest);
  // Acts on complete inventories: passes on, asks or adopts orphans.
  void recover(TimePoint now);
  void send_to_lacking(std::size_t position);
  void check_settled(TimePoint now);
  [[nodiscard]] bool contributors_known() const;
  void settle(TimePoint now, Verdict verdict);
  void count_samples(AveragingOutcome& outcome) const;
  [[nodiscard]] std::vector<bool> reduced_here() const;
  [[nodiscard]] std::vector<ContributorRun> contributor_runs() const;

  // -- all_reduce_receive.cpp
  Status receive(TimePoint now, Rank from, const wire::FrameHeader& header, Payload payload);
  Status on_begin(TimePoint now, Rank from, Payload payload);
  Status on_late_begin(Rank from, Payload payload);
  // A frame on another link than the lost one.
  Status on_return(TimePoint now, Rank from, const wire::FrameHeader& header, Payload payload);
  Status check_codec(Rank from, const wire::FrameHeader& header) const;
  Status on_contribution(TimePoint now, Rank from, SegmentIndex segment, Payload payload);
  Status check_result(SegmentIndex segment, Payload payload) const;
  // Decodes the values of a checked result into the output. Returns their digest.
  Result<Hash128> take_values(SegmentIndex segment, Payload payload);
  Status on_result(TimePoint now, Rank from, SegmentIndex segment, Payload payload);
  Status on_want(Rank from, SegmentIndex segment);
  Status on_inventory(TimePoint now, Rank from, Payload payload);
  Status on_done(TimePoint now, Rank from, Payload payload);

  // Whether a complaint is that of a member that hears nobody. It is if about half of all members or more are
  // complained about, this member among them, and this member hears most of the others well.
  [[nodiscard]] bool slander(TimePoint now, const wire::RankSet& lost) const;

  // -- all_reduce_late.cpp
  // At the members that go on:
  Status on_listen(TimePoint now, Rank from);
  void serve_listener(Rank rank);
  Status on_late_want(Rank from, SegmentIndex segment);
  // At the late member: the round is over here except for the results that the others send.
  void fall_behind(TimePoint now, std::string why);
  [[nodiscard]] bool most_go_on() const;
  Status receive_late(TimePoint now, Rank from, const wire::FrameHeader& header, Payload payload);
  void learn_late(TimePoint now, const wire::Inventory& inventory);
  Status take_begin_late(TimePoint now, Rank from, Payload payload);
  Status take_done_late(Rank from, Payload payload);
  Status take_result_late(SegmentIndex segment, Payload payload);
  void check_late(TimePoint now);
  [[nodiscard]] bool helps(TimePoint now, Rank rank) const;
  // The reason why waiting for the result is pointless; empty while it is not.
  [[nodiscard]] std::string_view hopeless(TimePoint now) const;
  void ask_others(TimePoint now);
  void give_up_late(TimePoint now, std::string_view why);

  // -- all_reduce_send.cpp
  void compose(const OutboxItem& item, Rank to, OutgoingFrame& frame);
  [[nodiscard]] wire::Done done_for(Rank to) const;
  [[nodiscard]] Codec codec_of(const OutboxItem& item) const;
  void compose_floats(const OutboxItem& item, Rank to, OutgoingFrame& frame);
  EncodedResults::Bytes encoded_contribution(Rank to, std::span<const float> values);
  // The encoded result of a held segment: the very bytes its owner sent, because encoding is idempotent.
  EncodedResults::Bytes encoded_result(SegmentIndex segment);

  // -- all_reduce_time.cpp
  // Moves all limits when this process itself stood still.
  void notice_oversleeping(TimePoint now);
  // The extra wait before complaining: a link's lower-ranked end complains first.
  [[nodiscard]] Duration yield(Rank rank) const;
  // Owners of segments that are not held here: the planned owners, and the new owners of orphans.
  [[nodiscard]] std::vector<bool> owing_results() const;
  [[nodiscard]] Watch::Deadline deadline(TimePoint now, Rank rank, bool owes_results) const;
  void leave_stragglers_behind(TimePoint now);
  // `rank` is about to be lost on the word of others: notes its fault if this member was about to say the same.
  void corroborate(TimePoint now, Rank rank, bool owes_results);
  // Members to complain about, out of those whose deadline has passed. When most of the others are quiet too, this
  // member may be the one that hears nobody. It then waits, within a limit, until their deadlines have passed too or
  // they are heard again. So it complains about all at once, and nobody who hears them believes that. (Local health as
  // in Lifeguard, 1707.00788, section 4.)
  struct Due {
    Rank rank = 0;
    Watch::Deadline deadline;
  };
  [[nodiscard]] std::vector<LostMember> casualties(TimePoint now, const std::vector<Due>& due);

  wire::GroupInfo group_;
  Rank self_;
  const Stake own_;
  Codec codec_;                             // codec of results
  std::vector<Codec> contribution_codecs_;  // by rank
  RoundVectors vectors_;
  AllReduceOptions options_;
  Hash128 plan_digest_;
  std::size_t set_bytes_;  // size of a contributor set on the wire

  SegmentTable table_;
  Roster roster_;
  Sums sums_;
  Recovery recovery_;
  Outbox outbox_;
  Watch watch_;
  std::vector<Peer> peers_;
  EncodedResults encoded_;  // empty where the codec is fp32
  std::size_t awaited_ = 0;

  bool started_ = false;
  TimePoint started_at_{};
  TimePoint begin_deadline_ = kNever;
  TimePoint next_tick_ = kNever;
  // Segments that this member has closed, each with the digest of its values. A late member may receive other values.
  std::vector<std::pair<SegmentIndex, Hash128>> closed_;
  std::optional<Hash128> digest_;  // set once everything is held
  std::vector<LostMember> lost_;
  bool late_ = false;     // the others go on without this member
  TimePoint late_heard_;  // when a member that goes on was last heard
  TimePoint late_fed_;    // when a member that goes on last sent something of the round
  std::int64_t bytes_sent_ = 0;
  std::int64_t bytes_received_ = 0;
  std::optional<AveragingOutcome> outcome_;
};

}  // namespace starling::averaging
