#include "client/daemon/disk_problem.h"

#include <fmt/core.h>

#include "shared/base/log.h"

namespace starling::daemon {

void DiskProblem::note(const Status& saved) {
  if (saved.ok()) {
    if (!text_.empty()) log_info("{}: the disk takes it again", what_);
    text_.clear();
    return;
  }
  std::string now = fmt::format("{}: {}", what_, saved.error().message);
  if (text_.empty()) log_error("{}; training goes on, and it is tried again", now);
  text_ = std::move(now);
}

}  // namespace starling::daemon
