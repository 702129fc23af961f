// The giving side of a state transfer: decides which chunks go out on which link, and when. Slots go round among the
// links that ask, one request at a time, so that many newcomers share the uplink and none starves.
//
// A round comes first: its group waits for the slowest member, and no group waits for a newcomer yet. While the round
// sends, states wait, even in the middle of a chunk. Between rounds, and when a round sends nothing because it waits
// for others, states have the line. A round that is held open for newcomers (coordinator/core/cadence.h) gives them the
// time they need.
//
// A peer is served within its budget, and once the coordinator has named it (donation_budget.h). A newcomer may call
// before this computer has heard of it: its first question waits a while, and hears signs of life meanwhile.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "client/transport/donation_budget.h"
#include "client/transport/frame_writer.h"
#include "client/transport/peer_network.h"
#include "shared/base/clock.h"
#include "shared/base/limited_log.h"
#include "shared/base/result.h"
#include "shared/wire/frames.h"

namespace starling::transport {

class Link;

// State frames carry it in place of a group, so frames of an abandoned transfer are recognised.
GroupId transfer_id(const Digest& state_digest);

class StateDonor {
 public:
  static constexpr std::size_t kRequestsQueuedMax = 32;  // limit for each link and state; StateFetcher stays below
  static constexpr std::size_t kChunksPerRequestMax = 64;
  static constexpr std::size_t kLinksWaitingMax = 64;  // beyond it peers are sent elsewhere
  // Time in which the coordinator's next reply should name a newcomer that has called.
  static constexpr Duration kNameWithin = std::chrono::seconds(20);

  struct Answer {
    const Link* link = nullptr;
    wire::StateInfo info;
  };

  StateDonor(StateSource source, std::size_t slots, DonationLimits limits = {})
      : source_(std::move(source)), slots_(slots), budget_(limits) {}

  // An answer to send at once, or none: chunks follow by next_frame(), or an answer by take_answers(). An error cuts
  // the link. `peer` is the proven other end of the link.
  Result<std::optional<wire::StateInfo>> on_request(TimePoint now, const Link* link, const PeerId& peer,
                                                    const wire::StateRequest& request);
  // See DonationBudget.
  void name(TimePoint now, std::span<const PeerId> peers) { budget_.name(now, peers); }
  void require_names(bool required) { budget_.require_names(required); }
  // Answers to questions that waited for a name, and have one now, or have waited for too long.
  std::vector<Answer> take_answers(TimePoint now);
  // Whether a peer without a name has asked since the last call.
  bool take_unnamed() { return std::exchange(unnamed_asked_, false); }
  bool next_frame(TimePoint now, const Link* link, FrameToSend& frame);
  // Whether a link may send nothing of a state now: if so, take_ready() will name it when it may.
  bool waits(TimePoint now, const Link* link);
  void forget(const Link* link);
  // Links that may send since the last call: they want to be pumped.
  std::vector<const Link*> take_ready() { return std::exchange(ready_, {}); }
  [[nodiscard]] bool has_ready() const { return !ready_.empty(); }

  // A round hands `bytes` to a line of this speed (0: unknown).
  void round_sends(TimePoint now, std::size_t bytes, double line_bytes_per_s);
  void round_ended();
  void on_timer(TimePoint now);
  [[nodiscard]] TimePoint next_deadline() const;
  // Links that wait because of the round, every few seconds: a sign of life shows them that this donor lives.
  std::vector<const Link*> take_waiting(TimePoint now);

 private:
  struct Request {
    std::shared_ptr<const StateSnapshot> state;
    std::size_t next = 0;
    std::size_t end = 0;
  };
  struct Client {
    PeerId peer;
    std::deque<Request> requests;
    bool has_slot = false;
  };
  // The question of a peer that has no name yet.
  struct Question {
    const Link* link = nullptr;
    PeerId peer;
    wire::StateRequest request;
    TimePoint until{};
  };

  [[nodiscard]] std::shared_ptr<const StateSnapshot> find(const wire::StateRequest& request) const;
  wire::StateInfo refuse(TimePoint now, const wire::StateRequest& request, const Error& why);
  void give_slots();
  void go_on();

  StateSource source_;
  std::size_t slots_;
  DonationBudget budget_;
  LimitedLog refusals_logged_;
  std::deque<Question> unnamed_;  // oldest first; at most one for each link and state
  bool unnamed_asked_ = false;
  std::unordered_map<const Link*, Client> clients_;  // clients with requests only
  std::deque<const Link*> waiting_;
  std::vector<const Link*> ready_;
  TimePoint busy_until_{};                     // the round that is sending is expected to go on by then
  std::unordered_set<const Link*> held_back_;  // links that would have sent meanwhile
  TimePoint told_to_wait_{};
  TimePoint told_unnamed_{};
};

}  // namespace starling::transport
