// starling-sim moshpit: tables and a picture of how fast swarms of any size agree on their average.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/sim/moshpit.h"

namespace starling::sim {

struct MoshpitArguments {
  std::vector<std::size_t> peers{1024};
  std::string grid = "auto";  // or its sides: "32x32"
  std::vector<double> failures{0, 0.001, 0.005, 0.01};
  std::vector<std::string> methods;  // empty: all
  int rounds = 50;
  int repetitions = 10;
  std::uint64_t seed = 1;
  double goal = 1e-9;

  // Settings of the forecast. A connection's default: 6 KB of TLS handshake on a 20 Mbit/s link, and its computing.
  double vector_mb = 64;
  double mbit = 20;
  double link_ms = 4;
  double round_s = 1;
  double recovery_s = 2;

  std::string json_file;
  std::string plot_file;
};

// Returns the smallest square that holds all peers, or cube beyond 10 000 peers.
std::vector<std::uint32_t> automatic_sides(std::size_t peers);

// Returns the exit status: 0, 1 when a file cannot be written, 2 for a grid or a method that does not exist.
int run_moshpit(const MoshpitArguments& arguments);

}  // namespace starling::sim
