// The command that takes a run back to an earlier state.
#include <fmt/core.h>

#include <algorithm>

#include "coordinator/operations/rollback.h"
#include "coordinator/operations/runs.h"
#include "coordinator/server/commands.h"
#include "coordinator/server/terminal.h"
#include "shared/base/calendar.h"

namespace starling::server {
namespace {

constexpr std::size_t kAccountsShown = 20;

void print_plan(const operations::RollbackPlan& plan, bool reverses) {
  const db::Totals total = plan.total();
  fmt::print("run '{}' goes back from round {} to the state that round {} began with, kept since {}\n", plan.run.run_id,
             plan.run.round, plan.to.round, local_time(plan.to.at));
  fmt::print("  given up     {} rounds, {} samples, {:.6f} credit\n", plan.rounds(), total.samples,
             db::credit_of(total));
  fmt::print("  credit       {}\n", reverses ? "is reversed" : "is kept");
  fmt::print("  accounts     {}\n", plan.credited.size());
  const std::size_t shown = std::min(plan.credited.size(), kAccountsShown);
  for (std::size_t i = 0; i < shown; ++i) {
    const db::VolunteerTotals& account = plan.credited[i];
    fmt::print("    {:<34} {:>12} samples {:>12.6f} credit\n", account.display_name, account.totals.samples,
               db::credit_of(account.totals));
  }
  if (shown < plan.credited.size()) fmt::print("    and {} more\n", plan.credited.size() - shown);
  fmt::print("  afterwards   the run goes on in the next round; volunteers load that state at their next call\n");
}

}  // namespace

Status roll_back_run(const RollbackOptions& options) {
  const bool reverses = options.credit == "reverse";
  STARLING_ASSIGN(const Project project, load_project(options.directory));
  STARLING_ASSIGN(const auto database, open_database(project));
  const SystemClock clock;
  const operations::Desk desk = desk_of(*database, clock);
  STARLING_ASSIGN(const db::Run run, operations::find_run(database->stores().training.runs, options.run));
  STARLING_ASSIGN(const auto plan, operations::plan_rollback(desk, run, options.to));
  print_plan(plan, reverses);
  if (!options.yes && !confirms("Do it?")) {
    return Error{ErrorCode::failed_precondition, "nothing was changed; add --yes to do it"};
  }
  STARLING_ASSIGN(
      const auto done,
      operations::roll_back(desk, plan, reverses ? operations::CreditFate::reverse : operations::CreditFate::keep,
                            {project.manifest_key, project.key_certificate}));
  if (reverses) {
    fmt::print("took back {} ledger lines: {} samples, {:.6f} credit\n", done.reversed.lines,
               done.reversed.taken_back.samples, db::credit_of(done.reversed.taken_back));
  }
  fmt::print("run '{}' goes on in round {} with the state of round {}\n", run.run_id, done.rollback.round + 1,
             done.rollback.to_round);
  return {};
}

}  // namespace starling::server
