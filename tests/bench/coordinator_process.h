// A project of its own in a temporary folder, served by the real starling-coordinator.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "tests/bench/process_pool.h"
#include "tests/support/temp_dir.h"

namespace starling::bench {

struct ProjectOptions {
  int peers_max = 0;  // members of the run, in all
  SampleCount target_batch_size = 0;
  SampleCount micro_batch_size = 0;
};

class CoordinatorProcess {
 public:
  static constexpr const char* kRun = "load";

  // Open to all, its run started, serving on a free loopback port. Ends with this object.
  static Result<std::unique_ptr<CoordinatorProcess>> start(const ProjectOptions& options);

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] const std::string& ca_pem() const { return ca_pem_; }
  [[nodiscard]] double peak_resident_bytes() const;
  // CPU time its threads have used so far.
  [[nodiscard]] double cpu_seconds() const;
  // Samples in the ledger of the run, as `run status --json` tells.
  [[nodiscard]] Result<SampleCount> ledger_samples() const;

 private:
  CoordinatorProcess() = default;
  Status make_project(const ProjectOptions& options);
  Status serve();

  testing::TempDir folder_;
  std::uint16_t port_ = 0;
  std::string ca_pem_;
  std::unique_ptr<ChildProcess> server_;
};

}  // namespace starling::bench
