// The public page of a project, from values to HTML. It works without scripts, in light and dark, from a
// phone to a wide screen, and shows names and figures only: no addresses, no computers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/core/types.h"
#include "db/stores/records.h"
#include "shared/base/clock.h"

namespace starling::web {

constexpr int kRowsPerPage = 100;

struct PageRun {
  RunId run_id;
  std::string title;
  core::SwarmView swarm;
  db::Totals totals;
  std::int64_t volunteers = 0;
  std::vector<db::LeaderboardRow> rows;     // of this page
  std::vector<db::Evaluation> evaluations;  // oldest first
};

struct PageData {
  std::string project;
  std::optional<PageRun> run;  // none yet
  int page = 1;
  WallTime now;
};

std::string render_page(const PageData& data);
// What render_page puts between <style> and </style>.
std::string_view page_style();

}  // namespace starling::web
