// Who holds which cells of a run's model (shared/run/cells.h). Volunteers offer memory in their heartbeats about the
// run, and its coordinator deals them cells. Each cell that a volunteer holds is a run of its own (wire::cell_run_id),
// about which it calls, too: so the coordinator knows who has the cell's state, and tells callers. Callers confirm what
// holders have computed for them: no more than that earns credit.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "shared/protocol/group_info.h"
#include "shared/run/model_options.h"

namespace starling::wire {

constexpr std::size_t kCellMembersMax = 2048;
constexpr std::size_t kReceiptCellsMax = 512;  // in one message, of all holders together

// A volunteer's memory for cells.
struct CellOffer {
  std::int64_t bytes = 0;         // all cells' together (wire::held_bytes), those that it holds included
  std::vector<CellIndex> held{};  // cells for which memory is set aside
  std::int64_t table = 0;         // number of the newest table that it has; 0: none
  // Its owner has planned that it stops then: others take its cells over before. Unset: no end is known.
  std::optional<std::int64_t> leaves_in_s{};
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

// Samples of a caller whose gradient a holder has computed in a cell. Where cells step as gradients arrive, as many
// samples as would bring the units that it computed if all experts had the same load (wire::units_of_sample).
struct CellSamples {
  CellIndex cell = 0;
  SampleCount samples = 0;
  friend bool operator==(const CellSamples&, const CellSamples&) = default;
};

// A caller's word about one holder.
struct HolderReceipt {
  PeerId holder;
  std::int64_t calls = 0;  // that it has answered
  std::vector<CellSamples> cells;
  friend bool operator==(const HolderReceipt&, const HolderReceipt&) = default;
};

// A caller's word about holders, since the last receipts that a reply has followed.
struct CallReceipts {
  std::int64_t number = 0;  // no others of this caller have it
  std::vector<HolderReceipt> holders;
  friend bool operator==(const CallReceipts&, const CallReceipts&) = default;
};

}  // namespace starling::wire
