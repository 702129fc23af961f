// Where a member is in its round besides computing, and what the last round leaves for the next. Pure.
//
//   gathering -> meeting -> averaging -> stepping -> gathering -> …
//
// A meeting may be called off, an averaging may bring no result, and a state may be lost before its step: then the
// member gathers again. The round under way is the one that the replica's state begins.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "client/averaging/all_reduce.h"
#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/protocol/group_info.h"

namespace starling::session {

// The averaging that this member is due at.
struct Meeting {
  wire::GroupInfo group;
  averaging::Rank self = 0;
  TimePoint start{};
};

class RoundCycle {
 public:
  struct Gathering {};  // it computes, and has no group yet
  struct Averaging {
    Meeting meeting;
  };
  // The average is in. The step waits for a computation to end, or for its next try after a failure, or is under way.
  struct Stepping {
    Meeting meeting;
    averaging::AveragingOutcome outcome;
    bool under_way = false;
    TimePoint not_before{};
  };
  using Phase = std::variant<Gathering, Meeting, Averaging, Stepping>;
  [[nodiscard]] const Phase& phase() const { return phase_; }

  [[nodiscard]] bool gathers() const { return std::holds_alternative<Gathering>(phase_); }
  [[nodiscard]] const Meeting* meeting() const { return std::get_if<Meeting>(&phase_); }
  [[nodiscard]] bool averages() const { return std::holds_alternative<Averaging>(phase_); }
  [[nodiscard]] const Stepping* stepping() const { return std::get_if<Stepping>(&phase_); }
  [[nodiscard]] bool step_is_under_way() const { return stepping() != nullptr && stepping()->under_way; }
  // True while the world works for this round: the group averages, or the step is under way.
  [[nodiscard]] bool is_busy() const { return averages() || step_is_under_way(); }
  // True from the averaging to the end of the step: no other group is taken, and the batches are the next round's.
  [[nodiscard]] bool is_bound() const { return averages() || stepping() != nullptr; }

  // Takes a place in a group, or another place. Only while gathering or meeting.
  void meet(Meeting meeting);
  // Gives the place or the result up, and gathers. Not while the group averages or the step is under way.
  void call_off();
  // The meeting begins. Only while meeting.
  const Meeting& begin_averaging();
  // The average is in, or the group has none for this member. Only while averaging.
  void on_averaged(averaging::AveragingOutcome outcome);
  void on_left_group();
  void begin_step();
  void on_step_failed(TimePoint not_before);
  // The step is done: gathers for the next round, whose group can follow from this one's. Returns this round's.
  Stepping finish();

  // False for the group that this member left without a result: the others may go on in it, and know this member's
  // contributions of that time.
  [[nodiscard]] bool may_join(const GroupId& group) const { return group != left_group_; }
  // The group that follows from the last round's without the coordinator, if this member is in it and `round` is the
  // one after. The place's start is left to the caller.
  [[nodiscard]] std::optional<Meeting> successor(RoundIndex round, const Digest& state, const PeerId& self) const;
  // The last round that this member finished with a group, from whose state no other has led away; null if none.
  struct LastRound {
    wire::GroupInfo group;
    std::vector<SampleCount> contributed;  // by rank
    Hash128 result_digest;
  };
  [[nodiscard]] const LastRound* last() const { return last_ ? &*last_ : nullptr; }
  // No group follows from the last round's: this member is not at the state that they made together.
  void forget_last_group() { last_.reset(); }

 private:
  Phase phase_;
  GroupId left_group_;
  std::optional<LastRound> last_;
};

}  // namespace starling::session
