// A caller's receipts: the coordinator hears from them what holders of cells have computed for this volunteer's
// windows, and credits holders with no more than that. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "client/routing/window.h"
#include "shared/base/ids.h"
#include "shared/protocol/cell_dealing.h"
#include "shared/run/run_manifest.h"

namespace starling::routing {

class Receipts {
 public:
  // `run`: the manifest of a run whose model is cut into cells. first_number: above 0, and chosen so that a number of
  // an earlier process hardly comes again.
  Receipts(const wire::RunManifest& run, std::int64_t first_number);

  // A window has ended, and its gradient counts.
  void add(const Window::Outcome& outcome);
  // Returns the receipts for a call to the coordinator, and nothing if none are new. Those that no reply has followed
  // stay as they were.
  [[nodiscard]] std::optional<wire::CallReceipts> tell();
  // A reply has followed the last call.
  void on_reply();

 private:
  struct Confirmed {
    std::int64_t calls = 0;
    SampleCount samples = 0;
    std::int64_t units = 0;  // that are no whole samples yet, where cells step on arrival
  };
  [[nodiscard]] std::optional<wire::CallReceipts> take_list();

  std::vector<double> units_of_sample_;  // by cell; empty where holders are told samples
  std::map<std::pair<PeerId, wire::CellIndex>, Confirmed> confirmed_;
  std::optional<wire::CallReceipts> open_;  // told, and no reply has followed
  bool is_told_ = false;                    // in the last call
  std::int64_t number_;
};

}  // namespace starling::routing
