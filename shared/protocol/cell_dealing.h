// Who holds which cells of a run's model (shared/run/cells.h). Volunteers offer memory in their heartbeats about the
// run, and its coordinator deals them cells. Each cell that a volunteer holds is a run of its own (wire::cell_run_id),
// about which it calls, too: so the coordinator knows who has the cell's state, and tells callers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "shared/protocol/group_info.h"
#include "shared/run/model_options.h"

namespace starling::wire {

constexpr std::size_t kCellMembersMax = 2048;

// A volunteer's memory for cells.
struct CellOffer {
  std::int64_t bytes = 0;         // all cells' together (wire::held_bytes), those that it holds included
  std::vector<CellIndex> held{};  // cells for which memory is set aside
  std::int64_t table = 0;         // number of the newest table that it has; 0: none
};

// Those who hold a cell's state, so that they answer calls: places in a list of members.
struct CellHolders {
  CellIndex cell = 0;
  std::vector<std::int64_t> members;
  friend bool operator==(const CellHolders&, const CellHolders&) = default;
};

// The holders of all cells at one time; cells that nobody holds are left out.
struct CellTable {
  std::int64_t number = 1;  // no other table of this run has it
  std::vector<Endpoint> members;
  std::vector<CellHolders> cells;
};

// The coordinator's answer to an offer.
struct CellsDealt {
  std::vector<CellIndex> hold;       // cells that it is to hold; it lets go of all others
  std::optional<CellTable> table{};  // unset: the one that it has is the newest
};

}  // namespace starling::wire
