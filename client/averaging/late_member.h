// A member that the others of its round go on without. It contributes nothing more and asks all of them for the result
// (listen). It has the result when it holds every segment, and its digest agrees with those of the members that are
// done. It gives up when the result can no longer come.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "client/averaging/lost_sets.h"
#include "client/averaging/outbox.h"
#include "client/averaging/peer_progress.h"
#include "client/averaging/roster.h"
#include "client/averaging/round_values.h"
#include "client/averaging/segment_table.h"
#include "client/averaging/watch.h"

namespace starling::averaging {

class LateMember {
 public:
  // The parts of the member's state that it goes on with; all outlive this object.
  struct Parts {
    const wire::GroupInfo& group;
    SegmentTable& table;
    Roster& roster;
    Outbox& outbox;
    PeerProgress& progress;
    RoundValues& values;
    Watch& watch;
    LostSets& sets;
  };
  struct Ending {
    bool has_result = false;
    std::string_view why;  // there is no result
  };

  LateMember(const AllReduceOptions& options, Parts parts)
      : options_(options),
        parts_(parts),
        distrusted_(parts.roster.size()),
        dones_(parts.roster.size()),
        replaced_(parts.roster.size()) {}

  // The round is over here, except for the results that the others send. Values that came so far are forgotten: they
  // may have been computed again since.
  void begin(TimePoint now);
  // Whether it has begun to be late.
  [[nodiscard]] bool late() const { return late_; }
  // Set once it is decided; then fixed. Look after each of the calls below.
  [[nodiscard]] const std::optional<Ending>& ending() const { return ending_; }

  // A frame of the round, a ping or a pong. An error means that the frame breaks the protocol.
  Status receive(TimePoint now, Rank from, const wire::FrameHeader& header, std::span<const std::uint8_t> payload);
  // Results of this member are not taken any more: others are asked for them.
  void distrust(Rank rank) { distrusted_[rank] = true; }
  // Call it after the loss of a link, and on every timer.
  void check(TimePoint now);
  // This process stood still for this long, which is nobody else's fault.
  void on_overslept(Duration slept);

 private:
  using Payload = std::span<const std::uint8_t>;

  Status on_begin(TimePoint now, Rank from, Payload payload);
  Status on_inventory(TimePoint now, Rank from, Payload payload);
  Status on_result(SegmentIndex segment, Payload payload);
  Status on_done(Rank from, Payload payload);
  [[nodiscard]] bool most_go_on() const;
  [[nodiscard]] bool helps(TimePoint now, Rank rank) const;
  // The reason why waiting for the result is pointless; empty while it is not.
  [[nodiscard]] std::string_view hopeless(TimePoint now) const;
  void ask_others(TimePoint now);
  // Takes everybody's terms from a member that has the result that is held here.
  void learn_terms();

  AllReduceOptions options_;
  Parts parts_;
  bool late_ = false;
  TimePoint heard_;                               // when a member that goes on was last heard
  TimePoint fed_;                                 // when a member that goes on last sent something of the round
  std::vector<bool> distrusted_;                  // by rank
  std::vector<std::optional<wire::Done>> dones_;  // by rank: those with weights
  std::vector<bool> replaced_;  // by rank: another member was asked for the results that this one owes
  std::optional<Ending> ending_;
};

}  // namespace starling::averaging
