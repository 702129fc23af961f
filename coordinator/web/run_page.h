// The first page of a project: the run, what it has learned, how to join, news, and the top contributors.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/core/types.h"
#include "db/stores/run_epochs.h"
#include "db/stores/stores.h"

namespace starling::web {

// The run that is being served, as pages need it.
struct ShownRun {
  RunId run_id;
  std::string title;
  core::SwarmView swarm;
  RoundIndex rounds_max = 0;  // 0: without end
  double flops_per_sample = 0;
  std::int64_t parameters = 0;
  // That a usual member sends at the present pace, and receives as much (swarm::hourly_traffic); 0: nobody trains.
  double bytes_per_hour = 0;
};

// A run's results and contributors, read from the database at one moment.
struct RunFigures {
  ShownRun shown;
  db::Totals totals;
  db::Totals pending;  // part of the totals that is not final yet
  std::int64_t volunteers = 0;
  std::vector<db::Standing> top;            // by recent average
  std::vector<db::Evaluation> evaluations;  // oldest first
  std::vector<db::RoundRecord> rounds;      // the last ones, newest first
  std::optional<db::RunEpochs> epochs;      // set if it goes over the data in epochs
};

// A run that is not being served.
struct OtherRun {
  RunId run_id;
  std::string title;
  std::string_view state;
};

// The way into the project that the page describes.
struct JoinAdvice {
  std::string link;          // starling://…; sufficient by itself where the project is open to all
  bool open_to_all = false;  // otherwise people need an invite of their own
};

// Everything that the first page shows, with or without a run.
struct RunPageData {
  std::string project;
  std::optional<RunFigures> run;  // empty: there is no run yet
  db::Activity activity;
  std::vector<db::News> news;
  JoinAdvice join;
  std::vector<OtherRun> others;  // newest first
  WallTime now;
};

std::string render_run_page(const RunPageData& data);

// Adds the held-out result of the run to a list of figures; `none` is shown while nothing has been measured.
void add_held_out(std::string& html, const RunFigures& run, std::string_view none);
// Seconds until the run's end at its present speed; empty if it has no end or does not move.
std::optional<double> seconds_left(const ShownRun& run);
std::string_view state_text(wire::RunState state);
// Adds the current pass over the data, and how much of it is accepted, to a list of figures.
void add_epochs(std::string& html, const db::RunEpochs& epochs);

}  // namespace starling::web
