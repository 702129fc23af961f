// Commands that check volunteers' credit and correct it.
#include <fmt/core.h>

#include "coordinator/api/run_report.h"
#include "coordinator/core/types.h"
#include "coordinator/server/arguments.h"
#include "coordinator/server/commands.h"
#include "shared/base/clock.h"
#include "shared/manifest/signed_manifest.h"

namespace starling::server {
namespace {

constexpr int kClaimsShown = 200;  // the newest

db::Totals sum(const db::Totals& a, const db::Totals& b) { return {a.samples + b.samples, a.credit + b.credit}; }

// Compares one run's sums; false when they do not agree.
Result<bool> check_run(const Project& project, const db::CorrectionStore& corrections, const db::Run& run) {
  STARLING_ASSIGN(const auto envelope, manifest::decode_envelope(run.manifest_envelope));
  STARLING_ASSIGN(const auto manifest, manifest::verify_manifest(envelope, project.root));
  const double a_sample = core::credit_earned(manifest.flops_per_sample, 1);
  STARLING_ASSIGN(const db::RunAudit audit, corrections.audit(run.run_id, a_sample * db::kMicroCreditsPerCredit));
  fmt::print("run '{}'\n", run.run_id);
  fmt::print("  ledger       {:>16} samples {:>18.6f} credit, in {} lines, {} of them reversals\n",
             audit.ledger.samples, credit_of(audit.ledger), audit.lines, audit.reversals);
  fmt::print("  final        {:>16} samples {:>18.6f} credit, and {:.6f} pending\n", audit.final_lines.samples,
             credit_of(audit.final_lines), credit_of(audit.pending));
  fmt::print("  volunteers   {:>16} samples {:>18.6f} credit\n", audit.volunteers.samples, credit_of(audit.volunteers));
  fmt::print("  teams        {:>16} samples {:>18.6f} credit, and {:.6f} of volunteers in none\n", audit.teams.samples,
             credit_of(audit.teams), credit_of(audit.teamless));
  fmt::print("  constant     {:>16.6g} FLOP x 200 / 86400e9 = {:.9g} credit a sample: {:.6f} credit\n",
             manifest.flops_per_sample, a_sample, a_sample * static_cast<double>(audit.ledger.samples));
  if (audit.misvalued > 0) fmt::print("  PROBLEM  {} lines are not worth their samples\n", audit.misvalued);
  if (audit.pending != audit.waiting) {
    fmt::print("  PROBLEM  pending is kept as {} samples and {:.6f} credit, and the ledger has {} and {:.6f}\n",
               audit.pending.samples, credit_of(audit.pending), audit.waiting.samples, credit_of(audit.waiting));
  }
  const bool all_final = sum(audit.final_lines, audit.pending) == audit.volunteers;
  if (!all_final) fmt::print("  PROBLEM  final and pending credit do not add up to the volunteers'\n");
  if (audit.volunteers != audit.ledger) fmt::print("  PROBLEM  volunteers and ledger differ\n");
  const db::Totals teams = sum(audit.teams, audit.teamless);
  if (audit.volunteers != teams) fmt::print("  PROBLEM  volunteers and teams differ\n");
  return audit.misvalued == 0 && audit.pending == audit.waiting && all_final && audit.volunteers == audit.ledger &&
         audit.volunteers == teams;
}

bool report(const char* what, const Status& status) {
  if (status.ok()) {
    fmt::print("ok       {}\n", what);
  } else {
    fmt::print("PROBLEM  {}: {}\n", what, status.error().message);
  }
  return status.ok();
}

}  // namespace

Status check_credit(const std::filesystem::path& directory) {
  STARLING_ASSIGN(const Project project, load_project(directory));
  STARLING_ASSIGN(const auto database, open_database(project));
  const db::Stores& stores = database->stores();
  STARLING_ASSIGN(const auto runs, stores.training.runs.list());
  bool good = true;
  for (const db::Run& run : runs) {
    STARLING_ASSIGN(const bool agrees, check_run(project, stores.credit.corrections, run));
    good = good && agrees;
  }
  good = report("every total is the sum of its ledger lines, and every pending one of those not final",
                stores.training.contributions.verify_totals()) &&
         good;
  good = report("every recent average is a replay of the ledger", stores.credit.corrections.verify_recent()) && good;
  if (good) return {};
  return Error{ErrorCode::failed_precondition,
               "credit does not add up; restore a backup, or ask for help with this text"};
}

Status list_claims(const std::filesystem::path& directory) {
  STARLING_ASSIGN(const Project project, load_project(directory));
  STARLING_ASSIGN(const auto database, open_database(project));
  const db::Stores& stores = database->stores();
  STARLING_ASSIGN(const auto claims, stores.credit.claims.list({.limit = kClaimsShown}));
  if (claims.empty()) fmt::print("every claim of the last 90 days was confirmed\n");
  for (const db::UnconfirmedClaim& claim : claims) {
    STARLING_ASSIGN(const db::Account account, stores.people.accounts.find_account(claim.account_id));
    fmt::print("{}  {:>10} samples  run {}, round {}, computer {} of {}\n", local_time(claim.at), claim.samples,
               claim.run_id, claim.round, claim.peer_id.brief(), account.display_name);
  }
  return {};
}

Status reverse_credit(const ReverseOptions& options) {
  STARLING_ASSIGN(const Project project, load_project(options.directory));
  STARLING_ASSIGN(const RoundRange rounds, parse_rounds(options.rounds));
  STARLING_ASSIGN(const auto database, open_database(project));
  const db::Stores& stores = database->stores();
  db::CorrectionRequest request;
  STARLING_ASSIGN(const db::Account account, stores.people.accounts.find_account_named(options.user));
  request.account_id = account.id;
  if (!options.computer.empty()) {
    const auto computer = PeerId::from_hex(options.computer);
    if (!computer) {
      return Error{ErrorCode::invalid_argument, fmt::format("'{}' is no computer: 64 hex digits", options.computer)};
    }
    request.peer_id = *computer;
  }
  if (!options.run.empty()) STARLING_TRY(stores.training.runs.find(options.run).status());
  request.run_id = options.run;
  request.round_min = rounds.first;
  request.round_max = rounds.last;
  request.reason = options.reason;
  request.now = SystemClock().wall_now();
  STARLING_ASSIGN(const db::CorrectionOutcome outcome, options.dry_run ? stores.credit.corrections.preview(request)
                                                                       : stores.credit.corrections.correct(request));
  if (!options.dry_run) {
    const SystemClock clock;
    STARLING_TRY(operations::note(
        desk_of(*database, clock), "credit reverse", account.display_name,
        fmt::format("{} lines, {:.6f} credit: {}", outcome.lines, credit_of(outcome.taken_back), options.reason)));
  }
  fmt::print("{} {} ledger lines of '{}': {} samples, {:.6f} credit\n",
             options.dry_run ? "would take back" : "took back", outcome.lines, account.display_name,
             outcome.taken_back.samples, credit_of(outcome.taken_back));
  return {};
}

}  // namespace starling::server
