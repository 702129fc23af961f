// The averagings that are under way on this computer (the round, the one that it follows, and gossip), and those that
// ended here. They are kept in one table, by number; each is reported once, when it has settled. Net thread only.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "client/averaging/ended_rounds.h"
#include "client/transport/peer_network.h"
#include "client/transport/round_driver.h"

namespace starling::transport {

// invalid_argument when the plan does not have this peer at that rank, or the vectors do not fit.
Status check_request(const AverageRequest& request, const PeerId& self);

// The members to have links with, this one among them, in the plan's order. Those that need no link have no address.
std::vector<wire::Endpoint> members_to_link(const AverageRequest& request);

class Averagings {
 public:
  // The bucket of gossip; none for the round.
  using Bucket = std::optional<std::size_t>;
  // Frames that a member takes: from an averaging that others wait for, or from any other one.
  enum class Sent : std::uint8_t { nothing, awaited, other };
  struct Settled {
    std::uint64_t number = 0;
    averaging::AveragingOutcome outcome;
  };
  // Peers that links are wanted with, and this member as their plans have it.
  struct Partners {
    std::vector<wire::Endpoint> peers;
    wire::Endpoint self;
  };

  Averagings(const PeerId& self, RoundDriver::LinkTo link_to) : self_(self), link_to_(std::move(link_to)) {}

  // The round has settled, and another averaging may follow it.
  [[nodiscard]] bool may_be_followed() const;
  // Ends the averaging that the round follows, if there is one.
  void end_followed();
  // The request has been checked, and no averaging of the bucket is under way; for the round, `follows` says that the
  // present one is followed by this one.
  void add(Bucket bucket, AverageRequest request, bool follows);
  // Call leave() before drop(), so that nobody waits for this member any more. False when there is nothing to leave.
  bool leave(Bucket bucket);
  void drop(Bucket bucket);

  // The round, but not the one that it follows; null when there is none.
  [[nodiscard]] RoundDriver* round() const;
  [[nodiscard]] std::uint64_t round_number() const;
  // There is a round, and it has not been reported yet.
  [[nodiscard]] bool round_is_open() const;

  // Whether the payload of this frame is wanted; an error for a breach of the protocol.
  [[nodiscard]] Result<bool> wants_frame(const Link& link, const wire::FrameHeader& header) const;
  Status frame_received(TimePoint now, Link& link, const wire::FrameHeader& header,
                        std::span<const std::uint8_t> payload);
  // A ping or pong. Nothing when no averaging with this member runs, so that nobody has answered it.
  std::optional<Status> sign_of_life(TimePoint now, Link& link, const wire::FrameHeader& header);
  void input_came(TimePoint now, const Link& link);
  Sent next_frame(TimePoint now, Link& link, FrameToSend& frame);
  // Whether service() should come before the timer that is set for this time: the last next_frame may have let others
  // go on. With `ticks`, limits wait for the next tick.
  [[nodiscard]] bool wants_service(TimePoint timer, bool ticks) const;
  [[nodiscard]] bool is_member(const Link& link) const;
  // `gone`: the peer's process has ended.
  void link_closed(TimePoint now, const Link& link, const Error& why, bool gone);

  // Lets time pass and sends frames that have become ready, for the round (and the one it follows) or for gossip.
  void service(TimePoint now, bool gossip);
  // Averagings that have settled since the last call.
  std::vector<Settled> take_settled(bool gossip);
  // The callback of a settled averaging; empty when it was ended, replaced or followed meanwhile.
  [[nodiscard]] std::function<void(const averaging::AveragingOutcome&)> callback_of(std::uint64_t number) const;
  // Partners of gossip that has not settled, when they have changed since the last call.
  std::optional<Partners> take_partners();
  [[nodiscard]] TimePoint next_deadline() const;

  [[nodiscard]] const FrameBytes& bytes() const { return bytes_; }

 private:
  struct Averaging {
    std::uint64_t number = 0;
    Bucket bucket;
    std::unique_ptr<RoundDriver> driver;
    bool reported = false;
    bool followed = false;  // over here, but maybe not for slower members
  };

  // The averaging that frames of this group belong to; null when it is none of ours.
  [[nodiscard]] RoundDriver* driver_of(const GroupId& group) const;
  [[nodiscard]] const Averaging* present_round() const;
  void end(const Averaging& averaging);

  PeerId self_;
  RoundDriver::LinkTo link_to_;
  std::vector<Averaging> table_;  // in the order in which they may send: the followed one, the round, gossip by number
  std::uint64_t last_number_ = 0;
  std::array<averaging::EndedRounds, 2> ended_ = {  // separate for gossip, because a round has many gossip averagings
      averaging::EndedRounds(), averaging::EndedRounds(averaging::EndedRounds::kKept* wire::kBucketsMost)};
  EarlyBegins early_begins_;
  std::vector<PeerId> partners_;
  FrameBytes bytes_;
};

}  // namespace starling::transport
