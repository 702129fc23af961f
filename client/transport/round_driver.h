// Runs one averaging round over the links: owns the StagedReduce, begins it at its time, and passes frames, losses and
// time to it. Net thread only.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "client/averaging/staged_reduce.h"
#include "client/transport/line_pace.h"
#include "client/transport/link.h"
#include "client/transport/peer_network.h"
#include "shared/run/buckets.h"

namespace starling::transport {

// A peer's begin that came before its plan was here, or after: a latecomer may begin in a round that is over, and then
// in the next.
struct EarlyBegin {
  wire::FrameHeader header;
  std::vector<std::uint8_t> payload;
};
constexpr std::size_t kEarlyBeginsMax = 4 + wire::kBucketsMost;  // limit for each link; the oldest is forgotten
using EarlyBegins = std::unordered_map<const Link*, std::deque<EarlyBegin>>;

class RoundDriver {
 public:
  using LinkTo = std::function<Link*(const PeerId&)>;

  // The request has been checked. `link_to` gives the link to send on, or null.
  RoundDriver(AverageRequest request, LinkTo link_to);

  // Call it before the start, and after the end of `before`. Members lost in that averaging are lost in this one, and
  // so are members whose link was lost since and who have no other.
  void follow(const RoundDriver& before);

  // Whether frames of this round from this peer are wanted or to be skipped; an error for a breach of the protocol.
  [[nodiscard]] Result<bool> wants_frame(const Link& link, const wire::FrameHeader& header) const;
  Status frame_received(TimePoint now, Link& link, const wire::FrameHeader& header,
                        std::span<const std::uint8_t> payload);
  // Bytes came from this peer, but maybe no whole frame: a sign of life on a slow link.
  void input_came(TimePoint now, const Link& link);
  bool next_frame(TimePoint now, Link& link, FrameToSend& frame);
  void link_closed(TimePoint now, const Link& link, const Error& why);
  // The peer's process has ended, whether it had begun or not.
  void peer_gone(TimePoint now, const Link& link, const Error& why);
  // The peer said that this round is over there.
  void peer_left(TimePoint now, const Link& link);
  // Call it right before the end of this object: members that may still wait for something of the round learn that it
  // is over here.
  void announce_end() const;

  // Begins when it is time, lets time pass, sends frames that have become ready. Call after every event.
  void service(TimePoint now, EarlyBegins& early);
  [[nodiscard]] TimePoint next_deadline() const;

  // Bytes that links have to send in the running round, as far as is planned.
  [[nodiscard]] std::int64_t bytes_planned() const;
  // Planned bytes that no link has taken yet, or planned bytes that links have not delivered here yet, whichever is
  // more.
  [[nodiscard]] std::int64_t bytes_left() const;
  // Each link gets its part of the pace according to its remaining data. Call it several times a second.
  void set_pace(const LinePace& pace);
  // A link has sent everything, or is lost.
  [[nodiscard]] bool is_thinned() const { return thinned_; }
  // Every link with something to send has begun to.
  [[nodiscard]] bool have_begun() const;

  // Whether service() would send something: the last next_frame may have let other links go on.
  [[nodiscard]] bool has_ready() const { return running() && engine_->has_ready(); }
  [[nodiscard]] bool running() const { return engine_ != nullptr; }
  // Nothing has gone over this link yet: until its begin has, the other end holds its own frames back.
  [[nodiscard]] bool owes_begin(const Link& link) const;
  // Frames of this group belong to the round.
  [[nodiscard]] bool takes(const GroupId& group) const { return wire::has_stage(request_.group, group); }
  // A member of the running round is at this link's other end.
  [[nodiscard]] bool is_member(const Link& link) const { return running() && rank_of(link.info().peer) != nullptr; }
  [[nodiscard]] const AverageRequest& request() const { return request_; }
  [[nodiscard]] const averaging::AveragingOutcome* outcome() const { return engine_ ? engine_->outcome() : nullptr; }

 private:
  struct Seat {
    Link* sends = nullptr;        // all our frames of this round go here
    const Link* hears = nullptr;  // the peer's frames come from here
    TimePoint alive_at{};         // when the engine last heard from it
    bool gone = false;            // its link was lost in this averaging or in the one before, or its process has ended
    bool left = false;            // it said that the round is over there, before this round began here
    bool lost_before = false;     // lost by the engine of the averaging that this one follows
    std::int64_t planned = 0;     // bytes to send to it
    std::int64_t sent = 0;
    std::int64_t expected = 0;  // bytes from it
    std::int64_t received = 0;
  };

  void begin(TimePoint now, EarlyBegins& early);
  [[nodiscard]] std::int64_t bytes_to_send() const;
  [[nodiscard]] const averaging::Rank* rank_of(const PeerId& peer) const;
  [[nodiscard]] Link* link_of(averaging::Rank rank) const;

  AverageRequest request_;
  LinkTo link_to_;
  std::vector<wire::Endpoint> contacts_;
  std::unordered_map<PeerId, averaging::Rank> ranks_;  // ranks of the others, in contacts_
  std::vector<Seat> seats_;                            // in the order of contacts_
  bool thinned_ = false;
  std::unique_ptr<averaging::StagedReduce> engine_;  // null before the start
};

}  // namespace starling::transport
