// From an operator's command to the server that may be running beside it.
#pragma once

#include <string>

#include "coordinator/server/project.h"
#include "shared/base/result.h"

namespace starling::server {

class ServerLink {
 public:
  explicit ServerLink(const Project& project) : project_(project) {}

  // The body of what the server answers; unavailable when none serves the project or it does not answer.
  [[nodiscard]] Result<std::string> get(const std::string& path) const;

  // Whether a process holds the project's serve.lock; of a project that several may serve: whether one answers where
  // this folder says.
  static bool is_served(const Project& project);
  // unavailable when somebody else listens where the project would.
  static Status check_port(const Project& project);

 private:
  const Project& project_;
};

}  // namespace starling::server
