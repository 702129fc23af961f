// Credit for serving, in a run whose model is cut into cells: a holder earns the smaller of what its cell's group and
// the callers' receipts confirm, and receipts are worth no more than the samples that their callers are credited with
// themselves. So holders that claim more than they were asked for earn nothing by it, and neither do callers that
// confirm what nobody computed: all receipts of an account together pay for one pass of its own samples through the
// model.
//
// The three words come by different ways: a cell's round, the trunk's round, and receipts, of which callers send some
// once a round. So each account may be some samples ahead of what confirms it, and what comes too early is kept for it
// up to the same number. That bounds what a liar gains in a cell, once for each start of the coordinator. Pure; not
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "coordinator/core/types.h"
#include "shared/protocol/cell_dealing.h"

namespace starling::core {

// Rounds whose samples an account may be ahead in a cell: callers confirm a cell's round about one round later.
constexpr SampleCount kReceiptRoundsAhead = 3;

class ReceiptBook {
 public:
  // ahead: samples that an account may be ahead in a cell. `hosts` outlives this object.
  ReceiptBook(std::size_t cells, SampleCount ahead, const KnownHosts& hosts);

  // A round of the trunk is decided.
  void on_trained(const std::vector<CreditedContribution>& credited);
  // A caller's word. Cells that the model has not, and holders that the project does not know, are passed over, and so
  // are receipts that have come before.
  void on_receipts(const MemberIdentity& caller, const wire::CallReceipts& receipts);
  // A round of the cell has brought samples of this account: returns how many of them earn credit.
  SampleCount settle(wire::CellIndex cell, AccountId holder, SampleCount samples);

  // Sets `calls` in the cover and its shares.
  void count_calls(CellCover& cover) const;

 private:
  // Samples that are confirmed and not claimed; below 0: claimed and not confirmed.
  class Balance {
   public:
    void confirm(SampleCount samples, SampleCount ahead);
    // Returns how many of the samples are covered.
    SampleCount claim(SampleCount samples, SampleCount ahead);

   private:
    SampleCount samples_ = 0;
  };

  const SampleCount ahead_;
  const KnownHosts& hosts_;
  std::size_t cells_;
  std::map<AccountId, Balance> callers_;  // in samples times cells
  std::map<std::pair<AccountId, wire::CellIndex>, Balance> holders_;
  std::map<PeerId, std::int64_t> newest_;    // numbers of the last receipts
  std::map<AccountId, std::int64_t> calls_;  // answered by computers of the account
};

}  // namespace starling::core
