// One member's averaging in a round, whatever the plan. For one group it is a single AllReduce; for a grid
// (wire::GridPlan) it is three, one after the other.
//
//   column   every member of the column, with its own vector
//   heads    heads only: the column's average, with half the weight of all that is in it
//   spread   the column again: heads contribute what the heads averaged, the others listen
//
// The heads' result is computed once, so all members that end with it have identical bits. The heads' majority alone
// decides whether it counts. Two heads of a column spread equal values, and the mean of these is that value, whichever
// head a segment came from. A head says with its begin what the heads' result is made of. A member has lost the round
// if it gets values that no head vouched for, or only some of the values.
//
// Words. A *contact* is any peer that this member deals with: an index in wire::contacts(group), which for members of
// the (first) group is their rank. Single-threaded, as is AllReduce, whose calls these are.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "client/averaging/all_reduce.h"

namespace starling::averaging {

class StagedReduce {
 public:
  // Parameters as for AllReduce. A grid takes up to three vectors of memory beside these.
  StagedReduce(wire::GroupInfo group, Rank self, RoundVectors vectors, AllReduceOptions options = {});
  ~StagedReduce();

  void start(TimePoint now);
  bool next_frame(TimePoint now, Rank contact, OutgoingFrame& frame);
  std::vector<Rank> take_ready();
  [[nodiscard]] bool has_ready() const;
  Status on_frame(TimePoint now, Rank contact, const wire::FrameHeader& header, std::span<const std::uint8_t> payload);
  void on_link_lost(TimePoint now, Rank contact, const std::string& reason,
                    std::optional<wire::Fault> fault = wire::Fault::gone);
  void on_timer(TimePoint now);
  [[nodiscard]] TimePoint next_deadline() const;
  // True when it holds in every stage that the contact is in.
  [[nodiscard]] bool finished_with(Rank contact) const;
  // Outcome of the whole round. For a grid: samples by rank in the column, as far as the heads have averaged them;
  // contributors, and what was measured of them, as the column averaged; the digest of the heads. The verdict minority
  // means that this column got no result, and can go on all the same; expelled means that it got a part of one.
  [[nodiscard]] const AveragingOutcome* outcome() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace starling::averaging
