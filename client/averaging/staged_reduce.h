// What one member does in a round's averaging, whatever its plan: of one group, an AllReduce and nothing else; of a
// grid (wire::GridPlan), three of them, one after the other.
//
//   column   every member of the column, with its own vector
//   heads    heads only: the column's average, with half the weight of all that is in it
//   spread   the column again: heads contribute what the heads averaged, the others listen
//
// The heads' result is computed once, so all that end with it have the same bits; whether it counts is decided by the
// heads' majority alone. Two heads of a column spread equal values, and their mean is that value, whichever of them a
// segment came from. With its begin a head says what the heads' result is made of; who gets values that no head spoke
// for, or not all of them, has lost the round.
//
// Words. A *contact* is anybody that this member has to do with: wire::contacts(group), so the members of the (first)
// group have their ranks for numbers. Single-threaded, as AllReduce, whose calls these are.
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
  // As AllReduce's. A grid takes up to three vectors of memory beside these.
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
  // In every stage that it is in.
  [[nodiscard]] bool finished_with(Rank contact) const;
  // Of the whole round. Of a grid: samples by rank in the column, as far as the heads have averaged them; contributors
  // as the column averaged; the digest is the heads'. minority: this column got no result, and is none the worse for
  // it; expelled: it got a part of one.
  [[nodiscard]] const AveragingOutcome* outcome() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace starling::averaging
