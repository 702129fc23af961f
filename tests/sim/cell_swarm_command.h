// starling-sim cell-swarm: swarms whose model nobody holds, seed after seed.
#pragma once

#include <cstdint>

#include "tests/sim/cell_options.h"

namespace CLI {
class App;
}  // namespace CLI

namespace starling::sim {

struct CellSwarmArguments {
  CellSwarmOptions swarm;
  std::uint64_t first_seed = 1;
  std::uint64_t seeds = 1;
  int peers = 0;    // 0: drawn from the seed
  int holders = 0;  // likewise
  int liars = 0;
  double faults = -1;  // mean seconds from one to the next; below 0: drawn from the seed
  double seconds = 40;
  bool verbose = false;
};

// Adds the subcommand, whose options `arguments` get when `app` parses.
void add_cell_swarm(CLI::App& app, CellSwarmArguments& arguments);

// Runs the seeds, and prints a row for some of them and for each that is broken. Returns the exit status: 1 where one
// is, 2 where the options name no model.
int run_cell_swarms(const CellSwarmArguments& arguments);

}  // namespace starling::sim
