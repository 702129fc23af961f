// A project of its own in a temporary folder, for the real starling-coordinator to serve.
#pragma once

#include <cstdint>
#include <filesystem>
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

  // Its run is started; nobody serves it yet.
  static Result<std::unique_ptr<CoordinatorProcess>> create(const ProjectOptions& options);
  // On a free loopback port, which stays the same; until kill(), or the end of this object.
  Status serve();
  // As kill -9 does.
  void kill() { server_.reset(); }

  [[nodiscard]] std::filesystem::path project() const { return folder_ / "project"; }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] const std::string& ca_pem() const { return ca_pem_; }
  // Of the state that its run begins with; known once it was served.
  [[nodiscard]] const Digest& initial_state() const { return initial_state_; }
  // Of the process that serves.
  [[nodiscard]] double peak_resident_bytes() const;
  [[nodiscard]] double resident_bytes() const;
  // Files, sockets and the like that it has open.
  [[nodiscard]] std::int64_t descriptors() const;
  // CPU time its threads have used so far.
  [[nodiscard]] double cpu_seconds() const;
  // What the project takes on the disk, and what its server has logged.
  [[nodiscard]] double disk_bytes() const;
  // What it tells Prometheus.
  [[nodiscard]] Result<std::string> metrics() const;
  // Samples in the ledger of the run, as `run status --json` tells.
  [[nodiscard]] Result<SampleCount> ledger_samples() const;

 private:
  CoordinatorProcess() = default;
  Status make_project(const ProjectOptions& options);
  Status read_initial_state();

  testing::TempDir folder_;
  std::uint16_t port_ = 0;
  std::uint16_t admin_port_ = 0;
  std::string ca_pem_;
  Digest initial_state_;
  std::unique_ptr<ChildProcess> server_;  // null: nobody serves
};

}  // namespace starling::bench
