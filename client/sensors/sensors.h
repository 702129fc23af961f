// All sensors of this computer: the surroundings that policy::decide() needs. Cheap enough to be read every second;
// costly readings are taken less often, or only while a preference needs them. One thread.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "client/policy/policy.h"
#include "shared/base/clock.h"

namespace starling::sensors {

// Places where the readings come from.
struct SensorOptions {
  std::filesystem::path root = "/";  // parent of /sys, /proc and /dev
  std::filesystem::path data_dir;    // folder whose disk counts
  // Set in tests; empty: taken from the environment.
  std::string display;
  std::string system_bus;
  std::string session_bus;
};

// Costly readings that are needed.
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
