// A daemon's model on a real daemon, as every window has one.
#pragma once

#include "gui/models/daemon_model.h"
#include "tests/gui/support/real_daemon.h"

namespace starling::testing {

class Desk {
 public:
  // The daemon runs and the model knows its status. One that goes away is looked for again soon.
  Desk();

  [[nodiscard]] models::DaemonModel& model() { return model_; }
  [[nodiscard]] RealDaemon& daemon() { return daemon_; }
  // Ends the daemon, also one that the model started, and waits until the model has seen it.
  [[nodiscard]] bool stop();

  // What a model on that folder is made with.
  static link::LinkOptions options(const std::filesystem::path& data_dir);

 private:
  RealDaemon daemon_;
  models::DaemonModel model_;
};

}  // namespace starling::testing
