// Network namespaces without names: they end with the last process and descriptor that uses them, however a program
// ends, so no clean-up is needed.
#pragma once

#include <string>
#include <vector>

#include "shared/base/result.h"
#include "shared/base/unique_fd.h"

namespace starling::netlab {

class NetNamespace {
 public:
  // A new namespace with its loopback device up, without IPv6 traffic. permission_denied without root.
  static Result<NetNamespace> create();
  [[nodiscard]] int fd() const { return fd_.get(); }
  // Path by which other processes of this machine can open it during its lifetime.
  [[nodiscard]] std::string path() const;

 private:
  explicit NetNamespace(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

// The calling thread, and threads and processes that it starts, are in that namespace as long as this lives.
class InNamespace {
 public:
  explicit InNamespace(const NetNamespace& there);
  ~InNamespace();
  InNamespace(const InNamespace&) = delete;
  InNamespace& operator=(const InNamespace&) = delete;

 private:
  UniqueFd home_;
};

// Runs a program such as ip or tc to its end; its error output becomes the error.
Status run_tool(const std::vector<std::string>& arguments);

}  // namespace starling::netlab
