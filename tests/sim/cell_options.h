// The options of a simulated swarm whose model is cut into cells (shared/run/cells.h), and its results. Everything
// random about it comes from `seed`.
#pragma once

#include <cstdint>
#include <string>

#include "shared/base/clock.h"
#include "shared/base/ids.h"

namespace starling::sim {

struct CellSwarmOptions {
  std::uint64_t seed = 1;
  int peers = 6;
  int liars = 0;    // accounts, of two volunteers each: they claim more than they serve, and confirm it to each other
  int holders = 2;  // that each cell is to have
  int layers = 2;   // each with experts
  int rows = 4, columns = 1;
  int experts_per_cell = 2;
  int answers_min = 0;    // wire::CellOptions
  double memory = 1.5;    // the volunteers' together, over what `holders` of each cell take
  int micro_batches = 2;  // micro-batches of a window, two at once
  SampleCount micro_batch = 3;
  std::uint64_t desk_bytes = 4000;             // serving::DeskOptions
  Duration budget = std::chrono::seconds(6);   // routing::WindowOptions
  Duration length = std::chrono::seconds(40);  // time with faults
  Duration calm = std::chrono::seconds(65);    // time after them: everything must be well again by its end
  double seconds_between_faults = 3;           // mean, over the whole swarm; 0: no faults
  double calls_delayed = 0.02;  // fraction of the calls to the coordinator that get there up to 1.5 s later
  double calls_lost = 0.002;    // fraction of the calls, and of the answers, that get lost: the caller waits for 5 s
  double upload_mbit_min = 0.5, upload_mbit_max = 20;
  double latency_ms_min = 1, latency_ms_max = 120;  // one way, half of it at each end
  double units_per_s_min = 200, units_per_s_max = 4000;
};

// The results. `broken` is empty when every invariant held at every step.
struct CellSwarmResult {
  std::string broken;
  std::int64_t cells = 0;
  std::int64_t windows = 0;             // that were computed to their end
  std::int64_t windows_lost = 0;        // that ended early: a pause, or the caller died
  SampleCount samples = 0;              // in windows
  std::int64_t units = 0;               // answered, on the way forth
  std::int64_t units_lost = 0;          // not answered
  std::int64_t units_back = 0;          // that have added to a gradient
  SampleCount samples_lied = 0;         // that liars are credited with
  SampleCount samples_served = 0;       // in decided rounds, all cells' together; but for those of liars
  SampleCount samples_unconfirmed = 0;  // those of them that earn nothing
  std::int64_t refused = 0;             // calls
  std::int64_t crashes = 0, freezes = 0, pauses = 0, slow = 0, cuts = 0, departures = 0, coordinator_crashes = 0;
  std::int64_t cells_moved = 0;     // taken from a volunteer that could be heard
  std::int64_t rounds = 0;          // decided, all cells' together
  std::int64_t adoptions = 0;       // a cell went on from another state than the last round's
  RoundIndex rounds_lost_most = 0;  // by such a step back
  double cover_s_longest = 0;       // time in which a cell had nobody
  double loss_first = 0;            // a sample's: the mean of the first windows, and of the last ones
  double loss_last = 0;
  std::uint64_t events = 0;
  double virtual_s = 0;
};

}  // namespace starling::sim
