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
//  - An *inventory* is a message to every other member: the sender's signed lost set, and the segments that it held
//    when that set last grew.
//  - A member *accuses* those in its lost set. An accused survivor is *well* here if its link is up and less than half
//    of the patience with it is used up.
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
//  - Accusations: a member that hears that another one has lost a third one passes the signed lost set on. It loses
//    that one as well, at once, if it is not well here, or if half of the votes of those with a link to it, and of
//    itself, accuse it. Otherwise it watches the accused for a second. The accused passes the set on, too, which shows
//    that it lives. If it was heard since, the accuser is lost. If two accuse each other, all lose the same one. Who
//    cannot tell, because it has no link to the accused, waits for half a second longer. One that waits for the begin
//    of the accused waits until the time for begins is over, four seconds at most, unless that begin was passed
//    on. Inventories of other views are put off meanwhile. Nobody complains about a member that accuses it: that one
//    may send it nothing just to look accused.
//  - Judgements: a lost set says which of its members were lost for what they say of others. A judgement is a vote, but
//    becomes an accusation only where the member that the judged one accuses is lost after all.
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
// Rules against lies.
//  - A begin is signed by its member, for this plan, and passed on with the signature: to members without a link to it,
//    and to all survivors when the member is lost, so that they count its samples alike. Who has begun with others, but
//    not here, is known to have been there.
//  - An owner signs a *seal* of its part when it has made all of it. A member that holds everything waits for the seals
//    of surviving owners. If an owner gave it other values than it sealed, the member is a latecomer, and takes nothing
//    from that owner.
//  - Members whose results differ exchange the seals that they hold. If an owner has sealed two results, that is proven
//    to all within a moment: it is lost, and so are the few that hold other bits than most of the group, but these are
//    not blamed. Without a proof they are. If there is no such majority, or if more than a quarter hold other bits, the
//    round is called off; without a proof it ends as diverged where there is no majority.
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

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/averaging/round_types.h"
#include "shared/base/clock.h"
#include "shared/protocol/group_info.h"
#include "shared/wire/frames.h"

namespace starling::averaging {

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
