// All sensors of this computer together: what policy::decide() wants to know of its surroundings. Cheap enough to be
// asked every second; what costs more is asked less often, or only while a preference needs it. One thread.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "client/policy/policy.h"
#include "shared/base/clock.h"

namespace starling::sensors {

struct SensorOptions {
  std::filesystem::path root = "/";  // of /sys, /proc and /dev
  std::filesystem::path data_dir;    // whose disk counts
  // For tests; empty: what the environment says.
  std::string display;
  std::string system_bus;
  std::string session_bus;
};

// Which of the costly ones are needed.
struct Needs {
  bool programs = false;
  bool temperature = false;
};

class Sensors {
 public:
  explicit Sensors(SensorOptions options);
  ~Sensors();

  policy::Surroundings look(TimePoint now, const Needs& needs);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace starling::sensors
