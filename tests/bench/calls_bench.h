// starling-bench calls: volunteers that call each other's experts, each a process with the product's links, desk and
// windows, and with real trainers.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "shared/base/result.h"
#include "tests/bench/bench.h"
#include "tests/bench/calls_model.h"

namespace starling::bench {

// delays: one caller over lines that are ever farther from its holders. loopback: the same experts in another process,
// and in one's own trainer. volunteers: four that call and hold, at line rate.
inline const std::vector<std::string> kCallsTables = {"delays", "loopback", "volunteers"};

struct CallsOptions {
  std::vector<std::string> tables = kCallsTables;
  std::vector<double> delays_ms = {0, 50, 100, 200, 500};  // round trips
  double mbit = 20;                                        // each line in `delays` has, both ways
  int holders = 3;                                         // in `delays`
  int repetitions = 5;
  double seconds = 20;  // counted time of a repetition of `volunteers`
  bool yields = true;   // trainers take only processor time that nobody else wants
  // The model of `delays` and `volunteers`. Windows have more micro-batches than are in flight, as in runs with large
  // batches.
  CallsModel shaped{.micro_batch = 8, .turns = 2};
  // The model of `loopback`: 1024 tokens in micro-batches of 4 samples.
  CallsModel near{.layers = 2,
                  .width = 512,
                  .heads = 8,
                  .mlp_width = 1024,
                  .active = 2,
                  .experts_per_cell = 4,
                  .micro_batch = 4,
                  .in_flight = 4};
};

// A row for each delay, for loopback, and for each set of lines. An error only where nothing can be measured at all.
Result<BenchResult> run_calls_bench(const CallsOptions& options);
// The figures of its tables that people look at.
std::vector<std::string> calls_columns(const CallsOptions& options);

// A child process's command line.
struct CallsChild {
  int rank = 0;
  int peers = 0;
  std::string address = "127.0.0.1";
  std::filesystem::path folder;  // certificates and keys
  bool yields = true;
  std::string model;  // to_line() of it
};
// A volunteer; it ends when its standard input does.
int run_calls_volunteer(const CallsChild& child);

}  // namespace starling::bench
