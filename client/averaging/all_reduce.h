// One group's weighted average, as a state machine without I/O. Every client, test and simulation reduces with it.
//
// Words.
//  - The vector is cut into *parts*, one for each member (GroupInfo::part_floats; a part may be empty).
//  - Parts are cut into *segments* of at most segment_floats. A segment is the unit in flight; segments are numbered
//    through all parts.
//  - The *owner* of a segment collects every member's *contribution* to it, adds the contributions up as they arrive,
//    divides the sum by the sum of their weights and sends the *result* to all. (This is a butterfly: a reduce-scatter
//    and an all-gather, each of one hop.)
//  - A result carries its *contributor set*, the members that are in it. So every member knows the contributors of
//    every coordinate.
//  - The *lost set* of a member holds those that it no longer counts on: the link broke, the member fell silent past a
//    limit learned from its own rhythm, or it sent nonsense. The set only grows. The others are the *survivors*.
//  - An *inventory* is a message to every other member: the sender's lost set, and the segments that it held when that
//    set last grew.
//  - *Most of the group* means more than half of its votes. Every account has one vote, which is divided among its
//    members that are not late (GroupMember::voter).
//
// Rules for faults.
//  - Lost sender: it is left out from the segment where it stopped. Contributions that arrived whole stay in.
//  - Straggler: a sender that is alive but far slower than the others is left out of the segments it still owes, and
//    keeps its place. An owner may close a segment without it, because the contributor set says what is in the result.
//  - Lost owner: each of its segments (an *orphan*) gets a new owner, survivors[segment mod survivors]. The new owner
//    waits until it has an inventory with exactly its own lost set from every survivor; then it knows all there is to
//    know. It passes on an orphan that it holds. It asks the lowest-ranked holder for an orphan that somebody else
//    holds (want). If nobody holds the orphan, it asks every survivor for its contribution and reduces again, from
//    inputs that all survivors still have. Frames of lost members are ignored. When the lost set grows, reductions of
//    orphans start over.
//  - At most one value: it follows that at most one value of a segment can ever reach the survivors, so they end
//    bit-identical. (A value that reaches a survivor after its inventory comes from a survivor whose inventory listed
//    it, or from a new owner that had all inventories. An owner that has moved on to a larger lost set no longer
//    finishes old work.)
//  - Yielding: when a link breaks, its higher-ranked end waits for yield_delay before it complains. So two members that
//    lost each other, but nobody else, are not both expelled.
//  - Latecomer: a member that learns that it is itself in a lost set contributes nothing more, and asks the others for
//    the result (listen). They send it all results, as their lines allow, and wait for nothing from it. It has the
//    result when it holds every segment and its digest agrees with the digests of the members that are done. If that
//    fails, or if the members that go on are not most of the group, it leaves the round (expelled) and reloads the
//    state later.
//  - Doubting oneself: when most others fall silent at once, the member that notices may be the one that hears nobody.
//    It complains about all of them or, if they are heard again, about none. A member that hears those who are
//    complained about loses the one that complains.
//
// Rules for unequal members.
//  - Deferred members (MemberRole) own nothing. At the end nobody waits for them, as long as the members that hold the
//    result are most of the group: those settle, and go on sending results to the deferred members as fast as their
//    lines take them. Deferred members settle later, by the same rule and with the same bits, because two results that
//    are both held by most of a group have a member in common.
//  - A member that has given another one everything falls silent and may leave. It is asked again only if other members
//    are lost.
//  - Members that nobody can dial own nothing and have no links among themselves. The lowest-ranked survivor that can
//    be dialled tells them about each other.
//
// The end. The round settles when every segment is held and the digests in all survivors' done messages agree (deferred
// members apart). Keep the machine until the next round: it goes on answering inventories, so that slower members can
// finish. The outcome says when the survivors are a minority. Whether their result may count is for the session to ask,
// because another part of the group may live on.
//
// Sources: Patarasuk & Yuan 2009 for the two phases; DeDLOC (2106.10207) section 3.2 for unequal parts; Moshpit
// (2103.03239) for masking faults instead of restarting; view-synchronous flushing for the inventory; Lifeguard
// (1707.00788) section 4 for doubting oneself first.
// Single-threaded: all calls from one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/hash.h"
#include "shared/protocol/group_info.h"
#include "shared/protocol/messages.h"
#include "shared/wire/frames.h"

namespace starling::averaging {

using Rank = std::size_t;  // index in GroupInfo::members

struct AllReduceOptions {
  // A member is silent when nothing came from it for max(silence_floor, silence_factor x the largest gap between its
  // frames in this round). A ping goes out when a link has been quiet for ping_interval.
  Duration ping_interval = std::chrono::milliseconds(250);
  Duration silence_floor = std::chrono::milliseconds(2000);
  double silence_factor = 4.0;
  Duration silence_max = std::chrono::seconds(30);
  Duration yield_delay = std::chrono::milliseconds(250);
  // An owner closes its segments without a sender that takes longer than max(straggler_floor, straggler_factor x the
  // time in which half of the others were through), or that sent nothing useful for stall_floor.
  Duration straggler_floor = std::chrono::seconds(5);
  double straggler_factor = 4.0;
  // A live member is lost when it owes an inventory or the answer to a want for stall_floor, or results for three times
  // as long. One that owes only its done is lost after six times stall_floor (others may have to be lost first) or
  // after as long as everything before took, whichever is longer.
  Duration stall_floor = std::chrono::seconds(10);
  // A member that claims a larger weight is lost: it lies, or its machine errs (shared/swarm/plausible.h).
  SampleCount weight_max = wire::kWeightMax;
  // Whether this member gives its result to members that the round went on without, and asks for the result when it is
  // one of those.
  bool latecomers = true;
};

// The samples that a member says its gradient is made of. Everybody in the group hears both numbers.
struct Stake {
  SampleCount weight = 0;  // samples
  SampleCount draw = 0;    // draw of the first sample, where samples are leased (wire::SampleLease); else 0
  friend bool operator==(const Stake&, const Stake&) = default;
};

// Vectors that a member brings to a round and takes from it. Input and output are vector_floats long, do not overlap,
// and outlive the machine. Input must not change meanwhile, nor output once there is an outcome.
struct RoundVectors {
  SampleCount weight = 0;            // samples summed into `input`; 0: listens only, and input may be empty
  std::span<const float> input;      // summable (codec.h)
  std::span<float> output;           // receives sum of inputs / sum of weights; own sums are formed inside it
  std::vector<std::uint8_t> note{};  // travels with this member's begin: at most wire::kBeginNoteBytesMax
  SampleCount draw = 0;              // Stake::draw
  // Empty, or vector_floats long: in segments that this member reduces, it receives what the result's codec left out,
  // which is sum of inputs - result x sum of weights. It may be the input's own memory, because nobody needs the input
  // of a segment that is reduced here any more.
  std::span<float> rest{};
};

// A lost member and the reason, for logs.
struct LostMember {
  Rank rank = 0;
  std::string reason;
};

// A fault that this member itself saw another commit, for that one's reputation. Reports by others are not included.
struct SeenFault {
  Rank rank = 0;
  wire::Fault fault = wire::Fault::gone;
};

// Consecutive coordinates averaged over the same members.
struct ContributorRun {
  std::int64_t begin = 0;
  std::int64_t floats = 0;
  wire::RankSet members;
};

// Outcome of a round of several groups (staged_reduce.h).
struct GridOutcome {
  std::vector<SampleCount> accepted;  // by column: samples in the result
};

struct AveragingOutcome {
  enum class Verdict {
    averaged,  // all segments held, digests agree with every survivor
    minority,  // the digests agree too, but the survivors have at most half of the votes
    expelled,  // the others went on without this member, and it could not get their result: reload the state
    diverged,  // a survivor holds different bits: a bug or a lie; do not use the result
  };
  Verdict verdict = Verdict::averaged;
  // By rank: samples averaged in = floor(weight x coordinates that carry it / vector_floats). Equal on all survivors.
  std::vector<SampleCount> samples;
  std::vector<SampleCount> draws{};          // by rank: Stake::draw of members that have samples averaged in
  std::vector<ContributorRun> contributors;  // runs of the coordinates held, in order; one run when nothing went wrong
  std::vector<bool> reduced{};               // by segment: this member made the result
  std::vector<LostMember> lost;
  std::vector<SeenFault> faults;  // by rank, at most one each: of lost members, and of senders that were left behind
  Hash128 result_digest;          // digest of the output and of every segment's contributor set
  SampleCount weight_total = 0;   // samples of members with a contribution to at least one coordinate
  std::int64_t bytes_sent = 0;
  std::int64_t bytes_received = 0;
  Duration elapsed{};  // start() to settled
  std::optional<GridOutcome> grid{};
};

// A frame to put on the wire: `head`, then `payload`. The payload points into the input or the output (no copy for
// fp32), or into memory that `owner` holds and that stays valid for as long as somebody keeps `owner`.
struct OutgoingFrame {
  std::vector<std::uint8_t> head;
  std::span<const std::uint8_t> payload;
  std::shared_ptr<const void> owner{};
};

class AllReduce {
 public:
  // `group` has passed check_group and has `self` as a rank. Codecs that lose precision need extra memory: one encoded
  // segment for each peer, and about 128 more, as most members take a segment within a moment of each other. For a
  // short vector it is an eighth of its segments instead of 128.
  AllReduce(wire::GroupInfo group, Rank self, const RoundVectors& vectors, AllReduceOptions options = {});
  ~AllReduce();

  void start(TimePoint now);

  // Fills in the next frame for `to`; false when there is none. The transport pulls when the link can take a frame, so
  // nothing queues up and memory stays bounded.
  bool next_frame(TimePoint now, Rank to, OutgoingFrame& frame);
  // Peers for which next_frame may have become true since the last call. The transport asks after every event, and goes
  // on after the outcome, because slower members still need the rest. Lost members are among them: they have to learn
  // that they are lost.
  std::vector<Rank> take_ready();
  // Whether take_ready() has any peer: next_frame() for one peer may let others go on.
  [[nodiscard]] bool has_ready() const;

  // Takes a round frame with this group's id (or a ping or pong, which only proves life) from a member, in the order
  // sent. While a long frame is still arriving, the transport reports its bytes as a ping now and then. An error means
  // that the frame breaks the protocol and that its sender already counts as lost. Cut the link then, but first let the
  // frames that next_frame() has for the sender go out: a member that knows that it is out complains about nobody.
  Status on_frame(TimePoint now, Rank from, const wire::FrameHeader& header, std::span<const std::uint8_t> payload);
  // `fault` is nonsense where the link was cut for what came over it. It is empty where the peer said that the round is
  // over there (frame over), so that nothing of the round will come any more.
  void on_link_lost(TimePoint now, Rank peer, std::string reason, std::optional<wire::Fault> fault = wire::Fault::gone);
  void on_timer(TimePoint now);
  // The time at which on_timer() should be called next; kNever when nothing is waited for.
  [[nodiscard]] TimePoint next_deadline() const;

  // Both members hold everything, and both know that: no frame of the round need pass between them any more.
  [[nodiscard]] bool finished_with(Rank rank) const;
  // Null until settled; then fixed.
  [[nodiscard]] const AveragingOutcome* outcome() const;
  // The note from a member's begin; empty when there was none.
  [[nodiscard]] std::span<const std::uint8_t> note(Rank rank) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace starling::averaging
