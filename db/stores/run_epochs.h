// Progress of a run in its passes over the data.
#pragma once

#include <cstdint>
#include <optional>

#include "db/stores/training_stores.h"
#include "shared/base/result.h"

namespace starling::db {

struct RunEpochs {
  std::int64_t complete = 0;             // epochs in which every sample is counted or set aside
  std::optional<EpochProgress> current;  // the oldest incomplete epoch; none between two
  SampleCount set_aside = 0;             // total of samples whose gradient cannot be had
};

// Nothing where no samples were ever leased: the run draws them at random, or has not begun.
Result<std::optional<RunEpochs>> run_epochs(const LeaseStore& leases, const RunId& run_id);

}  // namespace starling::db
