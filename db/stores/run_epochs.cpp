#include "db/stores/run_epochs.h"

namespace starling::db {

Result<std::optional<RunEpochs>> run_epochs(const LeaseStore& leases, const RunId& run_id) {
  STARLING_ASSIGN(const std::int64_t begun, leases.next_epoch(run_id));
  if (begun == 0) return std::optional<RunEpochs>();
  STARLING_ASSIGN(const std::vector<EpochProgress> open, leases.open_epochs(run_id));
  RunEpochs epochs;
  epochs.complete = begun - static_cast<std::int64_t>(open.size());
  if (!open.empty()) epochs.current = open.front();
  STARLING_ASSIGN(epochs.set_aside, leases.count_set_aside(run_id));
  return std::optional<RunEpochs>(epochs);
}

}  // namespace starling::db
