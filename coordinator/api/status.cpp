#include "coordinator/api/api.h"
#include "coordinator/api/responses.h"
#include "coordinator/api/run_report.h"

namespace starling::api {

gate::Response status(const Api& api, const gate::Request&) {
  const std::optional<ServedRun> served = api.run.served();
  if (!served) return error_response({ErrorCode::not_found, "the project has no run yet"});
  const auto run = api.stores.training.runs.find(served->manifest.run_id);
  if (!run) return error_response(told(run.error()));
  auto report = read_run_report(api.stores, *run, served->manifest.target_batch_size);
  if (!report) return error_response(told(report.error()));
  report->swarm = served->swarm;
  report->failing = served->failing;
  report->device_sums = served->device_sums;
  return json_response(encode(*report));
}

}  // namespace starling::api
