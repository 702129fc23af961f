// What must hold at every step of every simulated swarm. The first thing that does not is kept, in words.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/core/types.h"
#include "shared/base/hash.h"
#include "shared/wire/messages.h"
#include "tests/sim/coordinator.h"

namespace starling::sim {

class Invariants {
 public:
  // Members of one group that finished a round hold the same bits and agree on who gave what.
  void on_report(const wire::RoundReport& report);
  // The ledger holds each round once, as some group reported it, and never gives a member a round twice.
  void on_durable(const core::RoundDecided& round);
  // A report is only let go when its round is in the ledger.
  void on_forgotten(const Store& store, const wire::RoundReport& report);
  void fail(std::string what);

  [[nodiscard]] const std::string& broken() const { return broken_; }

 private:
  struct Finished {
    Hash128 result;
    Digest state;
    std::vector<SampleCount> accepted;                                     // by column of a grid
    std::map<std::uint32_t, std::map<PeerId, SampleCount>> contributions;  // by column; of one group, column 0
  };
  std::map<GroupId, Finished> finished_;
  std::set<std::pair<RoundIndex, PeerId>> credited_;
  std::string broken_;
};

}  // namespace starling::sim
