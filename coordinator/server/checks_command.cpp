// Commands that show what checks of volunteers' work have found.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "coordinator/operations/people.h"
#include "coordinator/server/arguments.h"
#include "coordinator/server/commands.h"
#include "shared/base/plain_text.h"
#include "shared/wire/json_writer.h"

namespace starling::server {
namespace {

// The volunteer's name as it is now.
Result<std::string> name_of_account(const db::Stores& stores, AccountId account) {
  STARLING_ASSIGN(const db::Account found, stores.people.accounts.find_account(account));
  return plain_line(found.display_name);
}

std::string encode(const db::WorkCheck& check, const std::string& volunteer) {
  wire::JsonWriter writer;
  writer.open("", '{');
  writer.integer("id", check.id);
  writer.integer("unix_ms", check.at.unix_ms);
  writer.text("run_id", check.run_id);
  writer.integer("round", check.round);
  writer.text("verdict", db::name_of(check.verdict));
  writer.text("volunteer", volunteer);
  writer.text("computer", check.peer_id.hex());
  writer.number("distance", check.distance);
  writer.text("why", check.why);
  writer.open("auditors", '[');
  for (const PeerId& auditor : check.auditors) writer.text("", auditor.hex());
  writer.close(']');
  writer.close('}');
  return std::move(writer.str());
}

// Who has that computer, for people: "5f0c… of Ada".
std::string shown_computer(const db::Stores& stores, const PeerId& peer) {
  const auto host = stores.people.accounts.find_host(peer);
  const auto owner = host ? name_of_account(stores, host->account_id) : Result<std::string>(host.error());
  return owner ? fmt::format("{} of {}", peer.brief(), *owner)
               : fmt::format("{}, which is not known here", peer.brief());
}

void print_outcome(const db::Stores& stores, const db::WorkCheck& check) {
  const auto standings = stores.credit.checks.standings(check.run_id);
  if (!standings) return;
  const auto host = std::find_if(standings->begin(), standings->end(),
                                 [&](const db::CheckedHost& one) { return one.peer_id == check.peer_id; });
  if (host == standings->end()) return;
  fmt::print("  in all       {} {} in this run, {} right in a row since the last\n", host->missed,
             host->missed == 1 ? "miss" : "misses", host->clean_in_a_row);
  if (check.verdict == db::Verdict::missed) {
    fmt::print("  credit       what it had pending was taken back: `credit check` adds the ledger up\n");
  }
}

}  // namespace

Status list_checks(const ChecksOptions& options) {
  STARLING_ASSIGN(const Project project, load_project(options.directory));
  STARLING_ASSIGN(const auto database, open_database(project));
  const db::Stores& stores = database->stores();
  if (!options.run.empty()) STARLING_TRY(stores.training.runs.find(options.run).status());
  STARLING_ASSIGN(auto checks, stores.credit.checks.list({options.run, options.missed, {.limit = options.lines}}));
  std::reverse(checks.begin(), checks.end());
  if (!options.json) {
    STARLING_ASSIGN(const db::CheckSums sums, stores.credit.checks.sums(options.run));
    fmt::print("checks of work: {} right, {} wrong, {} not made in time\n", sums.clean, sums.missed, sums.unchecked);
    if (checks.empty()) return {};
    fmt::print("{:>8}  {:<17} {:<16} {:>7}  {:<9} {:>9}  {:<20} {}\n", "id", "when", "run", "round", "found",
               "distance", "volunteer", "why");
  }
  for (const db::WorkCheck& check : checks) {
    STARLING_ASSIGN(const std::string volunteer, name_of_account(stores, check.account_id));
    if (options.json) {
      fmt::print("{}\n", encode(check, volunteer));
    } else {
      fmt::print("{:>8}  {:<17} {:<16} {:>7}  {:<9} {:>9.2g}  {:<20} {}\n", check.id, local_time(check.at),
                 check.run_id, check.round, db::name_of(check.verdict), check.distance, volunteer,
                 plain_line(check.why));
    }
  }
  return {};
}

Status show_check(const ChecksOptions& options) {
  STARLING_ASSIGN(const Project project, load_project(options.directory));
  STARLING_ASSIGN(const auto database, open_database(project));
  const db::Stores& stores = database->stores();
  STARLING_ASSIGN(const db::WorkCheck check, stores.credit.checks.find(options.id));
  STARLING_ASSIGN(const std::string volunteer, name_of_account(stores, check.account_id));
  if (options.json) {
    fmt::print("{}\n", encode(check, volunteer));
    return {};
  }
  fmt::print("check {} of {}: {}\n", check.id, local_time(check.at), db::name_of(check.verdict));
  fmt::print("  work         round {} of run '{}'\n", check.round, check.run_id);
  fmt::print("  computer     {}\n", shown_computer(stores, check.peer_id));
  fmt::print("  volunteer    {}\n", volunteer);
  if (check.auditors.empty()) fmt::print("  checked by   nobody, in time\n");
  const char* label = "checked by";
  for (const PeerId& auditor : check.auditors) {
    fmt::print("  {:<12} {}\n", std::exchange(label, ""), shown_computer(stores, auditor));
  }
  if (!check.auditors.empty()) fmt::print("  distance     {:.3g} of the right values' size\n", check.distance);
  if (!check.why.empty()) fmt::print("  why          {}\n", plain_line(check.why));
  print_outcome(stores, check);
  return {};
}

Status repeat_check(const ChecksOptions& options) {
  STARLING_ASSIGN(const Duration lasts, parse_duration(options.lasts));
  STARLING_ASSIGN(const Project project, load_project(options.directory));
  STARLING_ASSIGN(const auto database, open_database(project));
  const db::Stores& stores = database->stores();
  STARLING_ASSIGN(const db::WorkCheck check, stores.credit.checks.find(options.id));
  STARLING_ASSIGN(const db::Account account, stores.people.accounts.find_account(check.account_id));
  const SystemClock clock;
  STARLING_ASSIGN(const WallTime until, operations::watch(desk_of(*database, clock), account, lasts));
  fmt::print("each round of the computers of {} is checked until {}, from within half a minute on\n",
             plain_line(account.display_name), local_time(until));
  fmt::print("round {} itself is over: nobody keeps the state that it began with\n", check.round);
  fmt::print("`audit list {} {}` tells what is found\n", options.directory.string(), check.run_id);
  return {};
}

}  // namespace starling::server
