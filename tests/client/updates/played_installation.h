// An installation in a temporary folder whose programs are scripts, and archives for it made by the real tar.
#pragma once

#include <filesystem>
#include <string>

#include "client/updates/installation.h"
#include "tests/support/temp_dir.h"

namespace starling::testing {

// A starlingd that can only pass its self-check, or fail it with `exit_code`.
std::string working_daemon(const std::string& version, int exit_code = 0);

class PlayedInstallation {
 public:
  explicit PlayedInstallation(const std::string& version);

  [[nodiscard]] updates::Installation open(const std::string& version) const;
  [[nodiscard]] const std::filesystem::path& root() const { return root_; }
  // The target of `current`: "versions/1.0.0".
  [[nodiscard]] std::string current() const;
  void add_version(const std::string& version, const std::string& daemon) const;
  // An archive in the format of releases, with that version inside.
  [[nodiscard]] std::filesystem::path archive(const std::string& version, const std::string& daemon) const;

 private:
  TempDir folder_;
  std::filesystem::path root_;
};

}  // namespace starling::testing
