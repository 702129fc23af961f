// One group's weighted average, as a state machine without I/O: the reduction engine of every client,
// test and simulation.
//
// Words. The vector is cut into *parts*, one a member (GroupInfo::part_floats, maybe empty), and parts into
// *segments* of at most segment_floats: the unit in flight, numbered through all parts. The *owner* of a
// segment collects every member's *contribution* to it, adds them up as they arrive, divides by the sum of
// their weights and sends the *result* to all (a butterfly: reduce-scatter and all-gather, each one hop).
// A result carries the set of members in it, so every coordinate's contributors are known to all.
//
// Faults. Losing a member (its link broke, it fell silent past a limit learned from its own rhythm, it sent
// nonsense) puts it into the *lost* set, which only grows and which everybody tells everybody (inventory).
//  - A lost sender is left out from the segment where it stopped; what it delivered whole stays in.
//  - A sender that is alive but far slower than the others is left out of the segments it still owes, and keeps
//    its place: contributor sets say what is in a result, so an owner may close a segment without it.
//  - Segments of a lost owner (*orphans*) get a new one each: survivors[segment mod survivors]. Every survivor tells
//    all others its lost set and what it held when that set last grew (inventory). Once a new owner has an
//    inventory with exactly its own lost set from every survivor, it knows all there is to know: a segment that
//    it holds it passes on, one that somebody else holds it asks the lowest-ranked holder for (want), and one that
//    nobody holds it asks everybody's contribution for and reduces again, from inputs that everyone still has.
//    Frames of lost members are ignored, and when the lost set grows, reductions of orphans start over.
//    Hence at most one value of a segment can ever reach the survivors: they end bit-identical. (A value that
//    reaches a survivor after its inventory comes from a survivor whose inventory listed it, or from a new owner
//    that had all inventories; and an owner that has moved on to a larger lost set no longer finishes old work.)
//  - When a link breaks, the higher-ranked end waits yield_delay before it complains, so that two members that lost
//    each other, but nobody else, do not both get expelled.
//  - A member that learns that it is itself in a lost set brings nothing more, and asks the others for the result
//    (listen): they send it what everybody gets, as their lines allow, and wait for nothing of it. It has the result
//    when it holds every segment and the digests of those that are done agree with its own. If that fails, or if those
//    who go on are not most of the group, it leaves the round (expelled) and reloads later. But one for
//    which most others fall silent at once may be the one that hears nobody: it complains about all of them or, if they
//    are heard again, about none; and whoever hears those that are complained about loses the one that complains.
// Deferred members (MemberRole) own nothing and are not waited for at the end, as long as those who hold the result are
// most of the group: the others settle and go on sending them results, as fast as their lines take them. Deferred ones
// settle by the same rule, with the same bits, only later: two results that both are of most of a group share a member.
// Whoever has given one everything is silent, and may leave; it is asked again only if others are lost.
// Members that nobody can dial own nothing and have no links among themselves: the lowest-ranked survivor that can
// be dialled tells them of each other.
// The round settles when every segment is held and Done digests agree with every survivor (deferred ones apart). The
// machine keeps answering inventories afterwards, so that slower members can finish: keep it until the next round. A
// minority is told in the outcome: whether it may count is for the session to ask, since another part of the group may
// live on. "Most of the group" means more than half of its votes everywhere here: every account has one vote, divided
// among its members that are not late (GroupMember::voter).
//
// Sources: Patarasuk & Yuan 2009 for the two phases; DeDLOC (2106.10207) section 3.2 for unequal parts;
// Moshpit (2103.03239) for masking faults instead of restarting; view-synchronous flushing for the inventory;
// Lifeguard (1707.00788) section 4 for doubting oneself first.
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
#include "shared/wire/frames.h"
#include "shared/wire/group_info.h"
#include "shared/wire/messages.h"

namespace starling::averaging {

using Rank = std::size_t;  // index in GroupInfo::members

struct AllReduceOptions {
  // A member is silent when nothing came from it for max(silence_floor, silence_factor x the largest gap
  // seen between its frames in this round). Pings go out when a link has been quiet for ping_interval.
  Duration ping_interval = std::chrono::milliseconds(250);
  Duration silence_floor = std::chrono::milliseconds(2000);
  double silence_factor = 4.0;
  Duration silence_max = std::chrono::seconds(30);
  Duration yield_delay = std::chrono::milliseconds(250);
  // An owner closes its segments without a sender that takes longer than max(straggler_floor, straggler_factor x
  // the time in which half of the others were through), or that sent nothing useful for stall_floor.
  Duration straggler_floor = std::chrono::seconds(5);
  double straggler_factor = 4.0;
  // A live member that owes an inventory or an answer to a want for stall_floor is lost; one that owes results after
  // three times as long, one that owes only its done after six times (others may have to be lost first), or after as
  // long as everything before took, whichever is more.
  Duration stall_floor = std::chrono::seconds(10);
  // Who says that it brings more is lost: it lies, or its machine errs (shared/swarm/plausible.h).
  SampleCount weight_max = wire::kWeightMax;
  // Whether a member that the others go on without may have their result, and whether this one asks for it.
  bool latecomers = true;
};

// What a member says that its gradient is made of; everybody in the group hears both.
struct Stake {
  SampleCount weight = 0;  // samples
  SampleCount draw = 0;    // of the first of them, where they are leased (wire::SampleLease); else 0
  friend bool operator==(const Stake&, const Stake&) = default;
};

// What a member brings to a round and takes from it. Both vectors are vector_floats long, do not overlap, and outlive
// the machine. Input must not change meanwhile, nor output once there is an outcome.
struct RoundVectors {
  SampleCount weight = 0;            // samples summed into `input`; 0: listens only, and input may be empty
  std::span<const float> input;      // summable (codec.h)
  std::span<float> output;           // receives sum of inputs / sum of weights; own sums are formed inside it
  std::vector<std::uint8_t> note{};  // rides on this member's begin: at most wire::kBeginNoteBytesMax
  SampleCount draw = 0;              // Stake::draw
  // Empty, or vector_floats long: where this member reduces a segment, it receives what the result's codec has left
  // out: sum of inputs - result x sum of weights. May be the input's own memory: of a segment that is reduced here,
  // nobody needs the input any more.
  std::span<float> rest{};
};

// Which member was lost, and why: for logs.
struct LostMember {
  Rank rank = 0;
  std::string reason;
};

// What this member saw another do, itself: for its reputation. What others told about it is not among that.
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

// Of a round of several groups (staged_reduce.h).
struct GridOutcome {
  std::vector<SampleCount> accepted;  // by column: samples in the result
};

struct AveragingOutcome {
  enum class Verdict {
    averaged,  // all segments held, digests agree with every survivor
    minority,  // the same, but the survivors have at most half of the votes
    expelled,  // the others went on without this member, and it could not get their result: reload the state
    diverged,  // a survivor holds different bits: a bug or a lie; do not use the result
  };
  Verdict verdict = Verdict::averaged;
  // By rank: samples averaged in = floor(weight x coordinates that carry it / vector_floats). Equal on all survivors.
  std::vector<SampleCount> samples;
  std::vector<SampleCount> draws{};          // by rank: Stake::draw of those that have samples averaged in
  std::vector<ContributorRun> contributors;  // of the coordinates held, in order; one run when nothing went wrong
  std::vector<bool> reduced{};               // by segment: the result is the one that this member has made
  std::vector<LostMember> lost;
  std::vector<SeenFault> faults;  // by rank, at most one each; of lost ones, and of senders that were left behind
  Hash128 result_digest;          // of the output and of every segment's contributor set
  SampleCount weight_total = 0;   // samples of members with a contribution to at least one coordinate
  std::int64_t bytes_sent = 0;
  std::int64_t bytes_received = 0;
  Duration elapsed{};  // start() to settled
  std::optional<GridOutcome> grid{};
};

// A frame to put on the wire: `head` then `payload`, which points into the input or the output (no copy for fp32), or
// into what `owner` holds: then it stays valid for as long as somebody keeps that.
struct OutgoingFrame {
  std::vector<std::uint8_t> head;
  std::span<const std::uint8_t> payload;
  std::shared_ptr<const void> owner{};
};

class AllReduce {
 public:
  // `group` has passed check_group and has `self` as a rank. Extra memory, for codecs that lose precision: a segment
  // for each peer, encoded, and some 128 more, which is what most members take within a moment of each other; of a
  // short vector an eighth of its segments.
  AllReduce(wire::GroupInfo group, Rank self, const RoundVectors& vectors, AllReduceOptions options = {});
  ~AllReduce();

  void start(TimePoint now);

  // Pull: what should go to `to` next, if anything. The transport asks when the link can take a frame, so
  // nothing queues up and memory stays bounded.
  bool next_frame(TimePoint now, Rank to, OutgoingFrame& frame);
  // Peers for which next_frame may have become true since the last call. The transport asks after every event, and
  // goes on after the outcome: slower members still need what is left. Ask for lost ones too: they are told so.
  std::vector<Rank> take_ready();
  // Whether take_ready has any: next_frame for one peer may let others go on.
  [[nodiscard]] bool has_ready() const;

  // A round frame with this group's id (or ping/pong, which only prove life) from a member, in the order sent. While
  // a long frame is still arriving, the transport reports its bytes as a ping now and then. An error means
  // the frame breaks the protocol: the sender is already counted as lost. Cut the link, but let what next_frame has for
  // it go out first: one that knows that it is out complains about nobody.
  Status on_frame(TimePoint now, Rank from, const wire::FrameHeader& header, std::span<const std::uint8_t> payload);
  // `fault`: nonsense, where the link was cut for what came over it; none, where the peer told that the round is over
  // there (frame over), so that nothing of it will come any more.
  void on_link_lost(TimePoint now, Rank peer, std::string reason, std::optional<wire::Fault> fault = wire::Fault::gone);
  void on_timer(TimePoint now);
  // When on_timer wants to be called; kNever when nothing is waited for.
  [[nodiscard]] TimePoint next_deadline() const;

  // It holds everything, so does this member, and both know: nothing of the round need pass between them any more.
  [[nodiscard]] bool finished_with(Rank rank) const;
  // Null until settled; then fixed.
  [[nodiscard]] const AveragingOutcome* outcome() const;
  // What came with a member's begin; empty when nothing did.
  [[nodiscard]] std::span<const std::uint8_t> note(Rank rank) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace starling::averaging
