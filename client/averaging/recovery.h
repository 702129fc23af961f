// Knowledge of who holds which segments of lost owners, as far as this member needs it: it decides only about segments
// of which it is the new owner. A *view* is one value of the lost set; each view starts from nothing.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "client/averaging/roster.h"
#include "client/averaging/segment_table.h"
#include "shared/wire/frames.h"

namespace starling::averaging {

class Recovery {
 public:
  static constexpr Rank kNobody = SIZE_MAX;

  // Both outlive this object.
  Recovery(const SegmentTable& table, const Roster& roster) : table_(table), roster_(roster) {}

  // The roster's lost set grew. `set`: that set, signed by this member.
  void enter_view(const wire::LostSet& set);
  // False until the first loss.
  [[nodiscard]] bool in_view() const { return !inventory_.empty(); }
  // This member's encoded inventory: the lost set, and the segments held when the view was entered.
  [[nodiscard]] const std::vector<std::uint8_t>& inventory() const { return inventory_; }

  // Takes in another member's inventory if it belongs to this very view and is the member's first in it. One of another
  // view is put off, because this member's view may become the same.
  bool note(Rank from, const wire::Inventory& inventory);
  // The inventories put off that belong to this view, with their senders.
  [[nodiscard]] std::vector<std::pair<Rank, wire::Inventory>> take_put_off();
  // Whether the inventory of `rank` for this view is in: all frames that it sends afterwards, it sends knowing this
  // view.
  [[nodiscard]] bool noted(Rank rank) const { return !noted_.empty() && noted_[rank]; }
  // Every survivor's inventory is in.
  [[nodiscard]] bool complete() const { return in_view() && noted_count_ == expected_; }

  // Segments of lost owners that this member owns now.
  [[nodiscard]] const std::vector<SegmentIndex>& mine() const { return mine_; }
  // The lowest-ranked other member that held the i-th of mine(), and the survivors that did not; none where i is
  // mine().size().
  [[nodiscard]] Rank holder(std::size_t i) const { return holder_[i]; }
  [[nodiscard]] std::vector<Rank> lacking(std::size_t i) const;
  // Position in mine(), or mine().size().
  [[nodiscard]] std::size_t position(SegmentIndex segment) const;

 private:
  const SegmentTable& table_;
  const Roster& roster_;
  std::map<Rank, wire::Inventory> put_off_;  // the last one of each sender
  std::vector<std::uint8_t> inventory_;
  std::vector<bool> noted_;
  std::size_t noted_count_ = 0;
  std::size_t expected_ = 0;
  std::vector<SegmentIndex> mine_;  // ascending
  std::vector<Rank> holder_;
  std::vector<wire::RankSet> holders_;
};

}  // namespace starling::averaging
