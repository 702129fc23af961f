#include "coordinator/operations/rollback.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>

#include "coordinator/operations/runs.h"
#include "shared/manifest/signed_statement.h"
#include "shared/run/cells.h"

namespace starling::operations {
namespace {

Result<std::vector<db::KeptCheckpoint>> copies_of(const db::CheckpointStore& store, const RunId& run_id) {
  STARLING_ASSIGN(auto copies, store.list());
  std::erase_if(copies, [&](const db::KeptCheckpoint& copy) { return copy.run_id != run_id; });
  std::sort(copies.begin(), copies.end(), [](const auto& a, const auto& b) { return a.round < b.round; });
  return copies;
}

std::vector<RoundIndex> rounds_of(const std::vector<db::KeptCheckpoint>& copies) {
  std::vector<RoundIndex> rounds;
  for (const db::KeptCheckpoint& copy : copies) rounds.push_back(copy.round);
  return rounds;
}

using Stating = std::function<db::StateStatement(RoundIndex round, const Digest& state_digest)>;

// Returns what makes a statement of the run's state that is newer than those made before. `signer` must outlive it.
Result<Stating> stating(const Desk& desk, const RunId& run_id, const manifest::SigningKey& signer) {
  STARLING_ASSIGN(const db::StateChain chain, desk.stores.training.chains.read(run_id));
  const std::int64_t next = chain.statement ? chain.statement->serial + 1 : 0;
  const std::int64_t serial = std::max(desk.clock.wall_now().unix_ms, next);
  return Stating([run_id, serial, &signer](RoundIndex round, const Digest& state_digest) {
    const wire::StateStatement statement{run_id, round, state_digest, serial, wire::StatementCause::rollback};
    return db::StateStatement{round, serial, manifest::sign_statement(statement, signer)};
  });
}

// Takes the credit of the rounds that were given up back. Returns the sum.
Result<db::CorrectionOutcome> reverse_credit(const Desk& desk, const db::Rollback& rollback) {
  const RoundIndex last = rollback.round;
  STARLING_ASSIGN(const auto accounts,
                  desk.stores.credit.corrections.concerned(rollback.run_id, rollback.to_round, last));
  db::CorrectionOutcome all;
  for (const db::VolunteerTotals& account : accounts) {
    db::CorrectionRequest request;
    request.account_id = account.account_id;
    request.run_id = rollback.run_id;
    request.round_min = rollback.to_round;
    request.round_max = last;
    request.reason = fmt::format("the run was rolled back to round {}", rollback.to_round);
    request.now = desk.clock.wall_now();
    STARLING_ASSIGN(const db::CorrectionOutcome some, desk.stores.credit.corrections.correct(request));
    all.lines += some.lines;
    all.taken_back.samples += some.taken_back.samples;
    all.taken_back.credit += some.taken_back.credit;
  }
  return all;
}

}  // namespace

db::Totals RollbackPlan::total() const {
  db::Totals total;
  for (const db::VolunteerTotals& account : credited) {
    total.samples += account.totals.samples;
    total.credit += account.totals.credit;
  }
  return total;
}

Result<std::vector<RoundIndex>> rounds_kept(const Desk& desk, const RunId& run_id) {
  STARLING_ASSIGN(const auto copies, copies_of(desk.stores.training.checkpoints, run_id));
  return rounds_of(copies);
}

Result<RollbackPlan> plan_rollback(const Desk& desk, const db::Run& run, RoundIndex to) {
  STARLING_TRY(expect_usable(run));
  if (run.manifest_envelope.empty() || desk.stores.training.runs.find(wire::cell_run_id(run.run_id, 0)).ok()) {
    return Error{ErrorCode::failed_precondition,
                 fmt::format("the model of run '{}' is cut into cells, each with copies of its own: such a run cannot "
                             "be taken back",
                             run.run_id)};
  }
  STARLING_ASSIGN(const auto copies, copies_of(desk.stores.training.checkpoints, run.run_id));
  const auto copy = std::find_if(copies.begin(), copies.end(), [to](const auto& one) { return one.round == to; });
  if (copy == copies.end() && to == 0) {
    return Error{ErrorCode::not_found, fmt::format("no copy of the state of round 0 is kept; to begin again, make a "
                                                   "new run like it: starling-coordinator run clone PROJECT {} FILE",
                                                   run.run_id)};
  }
  if (copy == copies.end()) {
    return Error{ErrorCode::not_found,
                 fmt::format("no copy of the state of round {} of run '{}' is kept; there are copies of {}", to,
                             run.run_id, copies.empty() ? "no round" : "rounds " + shown_rounds(rounds_of(copies)))};
  }
  if (to >= run.round) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("run '{}' is at round {}, and goes back to an earlier one only", run.run_id, run.round)};
  }
  RollbackPlan plan{run, *copy, {}};
  STARLING_ASSIGN(plan.credited, desk.stores.credit.corrections.concerned(run.run_id, to, run.round));
  return plan;
}

Result<RollbackDone> roll_back(const Desk& desk, const RollbackPlan& plan, CreditFate credit,
                               const manifest::SigningKey& signer) {
  RollbackDone done;
  const RoundIndex to = plan.to.round;
  const RunId& run_id = plan.run.run_id;
  STARLING_ASSIGN(const auto state, stating(desk, run_id, signer));
  STARLING_ASSIGN(done.rollback, desk.stores.training.runs.roll_back({run_id, to, desk.clock.wall_now(), state}));
  STARLING_TRY(note(desk, "run rollback", plan.run.run_id,
                    fmt::format("from round {} to the state of round {}, credit {}", done.rollback.round, to,
                                credit == CreditFate::keep ? "kept" : "reversed")));
  if (credit == CreditFate::keep) return done;
  auto reversed = reverse_credit(desk, done.rollback);
  if (!reversed) {
    return reversed.error().prefixed(
        fmt::format("the run is rolled back, but not all credit is reversed; finish it with: credit reverse --run {} "
                    "--rounds {}-{}",
                    plan.run.run_id, to, done.rollback.round));
  }
  done.reversed = *reversed;
  STARLING_TRY(note(
      desk, "credit reverse", plan.run.run_id,
      fmt::format("{} lines, {:.6f} credit: rollback", done.reversed.lines, db::credit_of(done.reversed.taken_back))));
  return done;
}

Status state_again(const Desk& desk, const db::Run& run, RoundIndex round, const Digest& state_digest,
                   const manifest::SigningKey& signer) {
  STARLING_ASSIGN(const auto state, stating(desk, run.run_id, signer));
  return desk.stores.training.chains.state(run.run_id, state(round, state_digest), run.rollbacks);
}

std::string shown_rounds(const std::vector<RoundIndex>& rounds) {
  std::string text;
  for (std::size_t first = 0; first < rounds.size();) {
    std::size_t last = first;
    while (last + 1 < rounds.size() && rounds[last + 1] == rounds[last] + 1) ++last;
    if (!text.empty()) text += ", ";
    text += last == first ? fmt::format("{}", rounds[first]) : fmt::format("{} to {}", rounds[first], rounds[last]);
    first = last + 1;
  }
  return text;
}

}  // namespace starling::operations
