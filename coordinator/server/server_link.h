// The link from an operator's command to the server that may be running beside it.
#pragma once

#include <string>

#include "coordinator/server/project.h"
#include "shared/base/result.h"

namespace starling::server {

class ServerLink {
 public:
  explicit ServerLink(const Project& project) : project_(project) {}

  // The body of the server's answer; unavailable when none serves the project or it does not answer.
  [[nodiscard]] Result<std::string> get(const std::string& path) const;

  // Whether a process holds the project's serve.lock. For a project that several processes may serve: whether one
  // answers at this folder's address.
  static bool is_served(const Project& project);
  // unavailable when somebody else listens at the project's address.
  static Status check_port(const Project& project);

 private:
  const Project& project_;
};

}  // namespace starling::server
