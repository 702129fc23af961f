// A run's figures, for `run status`, /v1/status and the leaderboard page.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coordinator/core/devices_in_use.h"
#include "coordinator/core/failing_members.h"
#include "coordinator/core/types.h"
#include "db/stores/run_epochs.h"
#include "db/stores/stores.h"
#include "shared/base/result.h"

namespace starling::api {

struct RunReport {
  RunId run_id;
  wire::RunState state = wire::RunState::created;
  core::SwarmView swarm;         // zeros unless the run is being served
  core::FailingMembers failing;  // so are these
  core::DeviceSums device_sums;  // and these
  core::DevicesInUse devices;    // for operators alone, since members write it; empty in /v1/status
  bool retired = false;
  RoundIndex round = 0;
  SampleCount target_batch_size = 0;
  db::Totals totals;                      // the ledger's, as kept beside it
  db::Totals pending;                     // part of these: not final yet
  std::int64_t volunteers = 0;            // accounts with a line in the ledger
  std::vector<db::VolunteerTotals> rows;  // the first kPageRowsMax
  std::optional<db::Evaluation> first_evaluation;
  std::optional<db::Evaluation> latest_evaluation;
  std::optional<db::RunEpochs> epochs;
};

// From the database alone; the caller adds `swarm` where it is known.
Result<RunReport> read_run_report(const db::Stores& stores, const db::Run& run, SampleCount target_batch_size);
wire::RunState state_of(const db::Run& run);

// {"run_id","state","round","rounds_decided","retired","samples_accumulated","target_batch_size","swarm_size",
//  "samples_per_s","plan","trainers","trainers_failing","trainers_on_processors","trainers_on_cards","trainers_untold",
//  "devices":[{"computers", and a device's fields (shared/protocol/compute_device.h)}],"ledger_samples","credit_total",
//  "credit_pending","volunteers",
//  "credit_by_volunteer":{name: credit},"samples_by_volunteer":{name: samples},
//  "validation":{"round","bits_per_byte","accuracy","first_bits_per_byte"} or null,
//  "cell_holders":[how many members hold each cell],"cell_holders_wanted",
//  "epochs_complete","samples_set_aside","epoch","epoch_samples","epoch_accepted","epoch_set_aside"}: the last six
//  where samples are leased, the last four of an epoch that is not complete; cells: where the model is cut into some,
//  and the run is being served; trainers: members that should compute; devices: for operators alone, and only where it
//  is known
std::string encode(const RunReport& report);

}  // namespace starling::api
