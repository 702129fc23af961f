// Taking a run back to an earlier state, of which a copy is kept. Rounds are not numbered again: the run goes on in the
// next round, with the state that an earlier one began with.
#pragma once

#include <cstdint>
#include <vector>

#include "coordinator/operations/desk.h"
#include "shared/manifest/signed_manifest.h"

namespace starling::operations {

// The fate of the credit that rounds earned which are given up.
enum class CreditFate : std::uint8_t {
  keep,     // the work was done
  reverse,  // it is taken back by reversal lines in the ledger
};

// A rollback before it is done.
struct RollbackPlan {
  db::Run run;
  db::KeptCheckpoint to;
  std::vector<db::VolunteerTotals> credited;  // accounts with credit in the rounds that are given up, largest first

  [[nodiscard]] std::int64_t rounds() const { return run.round - to.round; }
  [[nodiscard]] db::Totals total() const;
};
// Changes nothing. failed_precondition: the run is complete or retired; not_found, with the rounds that are kept: no
// copy of the state of that round is.
Result<RollbackPlan> plan_rollback(const Desk& desk, const db::Run& run, RoundIndex to);

// The rollback as it was done, and the credit that was taken back.
struct RollbackDone {
  db::Rollback rollback;
  db::CorrectionOutcome reversed;
};
// Signs a statement of the state with which the run goes on, for volunteers know later ones. Works while the project is
// served: the server takes it over within a second. An interrupted reversal of credit can be finished with `credit
// reverse`.
Result<RollbackDone> roll_back(const Desk& desk, const RollbackPlan& plan, CreditFate credit,
                               const manifest::SigningKey& signer);

// States again, as a rollback does, that the run goes on in this round with this state: a restored project may have
// lost rounds that volunteers know.
Status state_again(const Desk& desk, const db::Run& run, RoundIndex round, const Digest& state_digest,
                   const manifest::SigningKey& signer);

// "12, 40 to 43": ascending rounds, for people.
std::string shown_rounds(const std::vector<RoundIndex>& rounds);
// The rounds of the run whose first states are kept, ascending.
Result<std::vector<RoundIndex>> rounds_kept(const Desk& desk, const RunId& run_id);

}  // namespace starling::operations
