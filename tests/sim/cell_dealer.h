// The coordinator's dealing of cells (coordinator/core/cell_book.h), and its knowledge of what holders have computed
// (coordinator/core/receipt_book.h), in a simulated swarm. All of that is lost when its process dies.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "coordinator/core/cell_book.h"
#include "coordinator/core/receipt_book.h"
#include "shared/protocol/heartbeat.h"
#include "tests/sim/cell_checks.h"
#include "tests/sim/scheduler.h"

namespace starling::sim {

class CellDealer {
 public:
  // All outlive this object.
  CellDealer(Scheduler& scheduler, const CellSwarmOptions& options, const wire::RunManifest& run, CellChecks& checks,
             const core::KnownHosts& hosts);

  void start();
  void crash();
  [[nodiscard]] bool up() const { return book_.has_value(); }

  // All of these while it is up.
  void set_ready(wire::CellIndex cell, std::span<const PeerId> peers);
  // `told` has an offer.
  wire::CellsDealt on_offer(const core::MemberIdentity& who, const core::CellBook::Condition& condition,
                            const wire::Computing& told);
  // A round of the trunk is decided; while it is down, too: members tell it of such a round when it is back.
  void on_trained(const core::CreditedContribution& credited);
  // Returns how many of an account's samples in a decided round of the cell earn credit.
  SampleCount earning(wire::CellIndex cell, AccountId account, SampleCount samples);
  void on_goodbye(const PeerId& peer) { book_->on_goodbye(peer); }
  void deal();
  // Samples that an account may be credited with in a cell before callers confirm them.
  [[nodiscard]] SampleCount samples_ahead() const { return samples_ahead_; }
  [[nodiscard]] core::CellCover cover() const { return book_->cover(); }
  // A volunteer that calls has room for a cell that lacks holders, and is not dealt it. Empty: none.
  [[nodiscard]] std::string undealt() const;

  // Whether the volunteer has the cell's state, whatever the coordinator knows.
  std::function<bool(const PeerId& peer, wire::CellIndex cell)> has_state;

  // Cells that were taken from a volunteer that could be heard.
  [[nodiscard]] std::int64_t moved() const { return moved_; }

 private:
  struct Caller {
    TimePoint called{};
    std::int64_t bytes = 0;
  };
  void tick(std::uint64_t start);
  // A volunteer of which the book has not heard is dealt the cells whose state it has, unless enough others have it.
  void check_kept(const PeerId& peer, const wire::CellOffer& offer, const wire::CellsDealt& answer);
  [[nodiscard]] std::map<PeerId, std::set<wire::CellIndex>> dealt() const;

  Scheduler& scheduler_;
  const CellSwarmOptions& options_;
  CellChecks& checks_;
  core::CellPlan plan_;
  const core::KnownHosts& hosts_;
  SampleCount samples_ahead_;
  std::optional<core::CellBook> book_;
  std::optional<core::ReceiptBook> receipts_;
  std::vector<core::CreditedContribution> untold_;  // decided while it was down
  std::map<PeerId, Caller> callers_;                // since the book began
  std::map<wire::CellIndex, std::set<PeerId>> ready_;
  std::uint64_t starts_ = 0;
  std::int64_t moved_ = 0;
};

}  // namespace starling::sim
