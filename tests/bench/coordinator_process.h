// A temporary project, served by the real starling-coordinator.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/run/run_manifest.h"
#include "tests/bench/process_pool.h"
#include "tests/support/temp_dir.h"

namespace starling::bench {

struct ProjectOptions {
  int peers_max = 0;  // members of the run in all
  SampleCount target_batch_size = 0;
  SampleCount micro_batch_size = 0;
  double audit_rate = 0;  // wire::RoundOptions
};

class CoordinatorProcess {
 public:
  static constexpr const char* kRun = "load";

  // Makes the project and starts its run; serve() begins to serve it.
  static Result<std::unique_ptr<CoordinatorProcess>> create(const ProjectOptions& options);
  // Serves on a free loopback port, which stays fixed, until kill() or the end of this object.
  Status serve();
  // Has the effect of kill -9.
  void kill() { server_.reset(); }

  [[nodiscard]] std::filesystem::path project() const { return folder_ / "project"; }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] const std::string& ca_pem() const { return ca_pem_; }
  // The run's; known once it was served.
  [[nodiscard]] const wire::RunManifest& manifest() const { return manifest_; }
  // Memory of the serving process.
  [[nodiscard]] double peak_resident_bytes() const;
  [[nodiscard]] double resident_bytes() const;
  // Number of its open files, sockets and other descriptors.
  [[nodiscard]] std::int64_t descriptors() const;
  // CPU time that its threads have used so far.
  [[nodiscard]] double cpu_seconds() const;
  // Disk space of the project and of its server's log.
  [[nodiscard]] double disk_bytes() const;
  // Its metrics in Prometheus' format.
  [[nodiscard]] Result<std::string> metrics() const;
  // Samples in the ledger of the run, as in `run status --json`.
  [[nodiscard]] Result<SampleCount> ledger_samples() const;

 private:
  CoordinatorProcess() = default;
  Status make_project(const ProjectOptions& options);
  Status read_manifest();

  testing::TempDir folder_;
  std::uint16_t port_ = 0;
  std::uint16_t admin_port_ = 0;
  std::string ca_pem_;
  wire::RunManifest manifest_;
  std::unique_ptr<ChildProcess> server_;  // null: not served
};

}  // namespace starling::bench
