#include "coordinator/api/run_recovery.h"

#include <utility>

#include "coordinator/api/electorate_rows.h"
#include "coordinator/api/run_report.h"
#include "coordinator/api/state_chain_rows.h"

namespace starling::api {
namespace {

Result<core::RecoveredLeases> recover_leases(const db::LeaseStore& leases, const RunId& run_id) {
  core::RecoveredLeases recovered;
  STARLING_ASSIGN(recovered.next_epoch, leases.next_epoch(run_id));
  STARLING_ASSIGN(const auto epochs, leases.open_epochs(run_id));
  for (const db::EpochProgress& epoch : epochs) {
    recovered.open_epochs.push_back(epoch.epoch);
    STARLING_ASSIGN(const auto counted, leases.counted(run_id, epoch.epoch));
    recovered.counted.insert(recovered.counted.end(), counted.begin(), counted.end());
  }
  for (db::Page page{.limit = db::kPageRowsMax};; page.offset += page.limit) {
    STARLING_ASSIGN(const auto samples, leases.all_set_aside(run_id, page));
    recovered.set_aside.insert(recovered.set_aside.end(), samples.begin(), samples.end());
    if (samples.size() < static_cast<std::size_t>(page.limit)) break;
  }
  STARLING_ASSIGN(recovered.tried, leases.tried(run_id));
  STARLING_ASSIGN(const auto held, leases.held(run_id));
  for (const db::LeasedSamples& row : held) {
    const wire::SampleLease lease{row.number, row.epoch, row.first, row.samples, row.last_round};
    recovered.held.push_back({row.peer_id, row.process, {lease}});
  }
  return recovered;
}

}  // namespace

Result<std::vector<core::AccountSamples>> read_credited(const db::StandingsStore& standings, const RunId& run_id) {
  std::vector<core::AccountSamples> credited;
  for (db::Page page{.limit = db::kPageRowsMax};; page.offset += page.limit) {
    STARLING_ASSIGN(const auto rows, standings.volunteers_of(run_id, page));
    for (const db::VolunteerTotals& row : rows) credited.push_back({row.account_id, row.totals.samples});
    if (rows.size() < static_cast<std::size_t>(page.limit)) return credited;
  }
}

Result<core::RecoveredRun> recover_run(const db::Stores& stores, const db::Run& run) {
  core::RecoveredRun recovered;
  recovered.state = state_of(run);
  recovered.round = run.round;
  STARLING_ASSIGN(const auto rounds, stores.training.runs.rounds(run.run_id, {.limit = 1}));
  STARLING_ASSIGN(const auto rollbacks, stores.training.runs.rollbacks(run.run_id));
  if (!rollbacks.empty() && rollbacks.back().round + 1 == run.round) {
    recovered.state_digest = rollbacks.back().state_digest;
  } else if (!rounds.empty()) {
    recovered.state_digest = rounds.front().state_digest;
    recovered.survivors = rounds.front().survivors;
  }
  STARLING_ASSIGN(const auto lanes, stores.training.lanes.list(run.run_id));
  for (const db::Lane& lane : lanes) recovered.lanes.push_back({lane.peer_id, lane.lane});
  STARLING_ASSIGN(recovered.credited, read_credited(stores.credit.standings, run.run_id));
  STARLING_ASSIGN(const auto evaluation, stores.training.evaluations.latest(run.run_id));
  if (evaluation) recovered.evaluated_round = evaluation->round;
  STARLING_ASSIGN(const auto checkpoint, stores.training.checkpoints.newest(run.run_id));
  if (checkpoint) {
    recovered.checkpoint = {checkpoint->round, checkpoint->state_digest, {checkpoint->artefact, checkpoint->bytes}};
  }
  STARLING_ASSIGN(recovered.leases, recover_leases(stores.training.leases, run.run_id));
  STARLING_TRY(recover_electorate(stores.training, run.run_id, recovered));
  STARLING_ASSIGN(recovered.chain, recover_chain(stores.training.chains, run.run_id));
  STARLING_ASSIGN(const std::vector<db::CheckedHost> checked, stores.credit.checks.standings(run.run_id));
  for (const db::CheckedHost& host : checked) {
    recovered.audits.push_back({host.peer_id, host.clean_in_a_row, static_cast<int>(host.clean_in_a_row),
                                static_cast<int>(host.missed), host.last_miss});
  }
  return recovered;
}

}  // namespace starling::api
