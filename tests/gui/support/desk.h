// A daemon's model on a real daemon, as every window has one.
#pragma once

#include "gui/models/daemon_model.h"
#include "tests/gui/support/real_daemon.h"

namespace starling::testing {

class Desk {
 public:
  // The daemon runs and the model knows its status. The model soon reconnects if the daemon disappears.
  Desk();

  [[nodiscard]] models::DaemonModel& model() { return model_; }
  [[nodiscard]] RealDaemon& daemon() { return daemon_; }
  // Ends the daemon, even one that the model started, and waits until the model has noticed.
  [[nodiscard]] bool stop();

  // Options for a model on that folder.
  static link::LinkOptions options(const std::filesystem::path& data_dir);

 private:
  RealDaemon daemon_;
  models::DaemonModel model_;
};

}  // namespace starling::testing
