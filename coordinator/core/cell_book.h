// Which volunteers hold which cells of a run's model (shared/run/cells.h). They offer memory when they call; the book
// deals them cells, so that each has as many holders as the manifest wants, of different accounts where there are any,
// and moves cells from those that have most, for their lines, to those that have least, one at a time: the new holder
// has the state before the old one lets it go. So it does where a holder has said when it stops, some minutes before
// that; and one that has paused for long is replaced. Callers hear of holders that have the state, which the cells' own
// runs know. Pure; not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "coordinator/core/types.h"
#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/protocol/cell_dealing.h"

namespace starling::core {

// The run's cells.
struct CellPlan {
  std::vector<std::int64_t> bytes;  // that holding each cell takes (wire::held_bytes)
  int holders = 2;                  // that each is to have
  std::int64_t first_table = 1;     // number of the first table: another one at each start
};

// Sets the options of a cell's own run, whose members are its holders.
void adapt_to_cell(int holders, CoordinatorOptions& options);

class CellBook {
 public:
  explicit CellBook(CellPlan plan);

  // A volunteer's condition when it calls.
  struct Condition {
    wire::Endpoint at;            // where others can call it
    bool is_paused = false;       // it does not compute
    double line_bytes_per_s = 0;  // the slower way of its line; 0: not known
  };
  // A volunteer's call with an offer. deal() is due then.
  void on_offer(TimePoint now, const MemberIdentity& who, const Condition& condition, const wire::CellOffer& offer);
  void on_goodbye(const PeerId& peer);
  // The members that have the cell's state, in place of those before.
  void set_ready(wire::CellIndex cell, std::span<const PeerId> peers);
  // Deals what is to be dealt, if anything has changed, and now and then forgets volunteers that do not call any more.
  void deal(TimePoint now);

  // The answer for a volunteer that has this table; 0: none.
  [[nodiscard]] wire::CellsDealt answer(const PeerId& peer, std::int64_t table) const;

  // Holders of each cell that have its state.
  [[nodiscard]] CellCover cover() const;

 private:
  struct Volunteer {
    AccountId account = 0;
    wire::Endpoint at;
    std::int64_t bytes = 0;
    std::set<wire::CellIndex> cells{};  // dealt
    std::int64_t load = 0;              // these cells' bytes
    // The load with these bytes more, as it weighs on its line.
    [[nodiscard]] double weight(std::int64_t more = 0) const { return static_cast<double>(load + more) / share; }
    double line_bytes_per_s = 0;  // 0: not known
    double share = 1;             // a slow line bears this part of what others do
    TimePoint called{};
    TimePoint paused_since = kNever;  // kNever: it computes
    TimePoint leaves_at = kNever;     // it has said so
  };
  struct Holders {
    std::set<PeerId> dealt;
    std::set<PeerId> ready;  // they have the cell's state; those that let it go may still have it
    [[nodiscard]] int ready_ones() const;
  };
  using Spread = std::pair<std::size_t, bool>;
  using Entry = std::pair<const PeerId, Volunteer>;

  [[nodiscard]] std::int64_t bytes_of(wire::CellIndex cell) const {
    return plan_.bytes[static_cast<std::size_t>(cell)];
  }
  [[nodiscard]] Holders& holders_of(wire::CellIndex cell) { return cells_[static_cast<std::size_t>(cell)]; }
  [[nodiscard]] const Holders& holders_of(wire::CellIndex cell) const { return cells_[static_cast<std::size_t>(cell)]; }
  [[nodiscard]] bool has_room(const Volunteer& volunteer, wire::CellIndex cell) const {
    return volunteer.load + bytes_of(cell) <= volunteer.bytes;
  }
  // Whether others are to take its cells over.
  [[nodiscard]] static bool is_leaving(TimePoint now, const Volunteer& volunteer);
  // Whether it may be dealt more.
  [[nodiscard]] static bool takes_more(TimePoint now, const Volunteer& volunteer);
  void give(wire::CellIndex cell, Entry& to);
  void take_back(wire::CellIndex cell, const PeerId& from);
  void forget(const PeerId& peer);
  void share_by_lines();
  void take_back_beyond_room();
  void fill(TimePoint now);
  [[nodiscard]] Entry* best_for(TimePoint now, wire::CellIndex cell);
  [[nodiscard]] Spread spread(wire::CellIndex cell, const PeerId* without, const PeerId* with) const;
  void end_surplus(TimePoint now);
  void begin_move(TimePoint now);
  void renew_table();

  CellPlan plan_;
  std::map<PeerId, Volunteer> volunteers_;
  std::vector<Holders> cells_;  // by number
  bool changed_ = false;        // since the last dealing
  TimePoint swept_{};
  wire::CellTable table_;
};

}  // namespace starling::core
