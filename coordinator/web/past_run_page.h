// The page of a run that is not being served: over, paused, or not begun. It stays for good.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "coordinator/web/run_page.h"
#include "shared/base/result.h"

namespace starling::web {

struct PastRunData {
  std::string project;
  RunFigures run;  // its `top` is this run's
  WallTime created;
  std::string_view state;  // from state_text()
  std::optional<WallTime> retired;
  WallTime now;
};

std::string render_past_run(const PastRunData& data);

// Facts about a run that is not served, from its manifest and its row.
Result<ShownRun> read_past_run(const db::Run& run);
std::string_view state_text(const db::Run& run);

}  // namespace starling::web
