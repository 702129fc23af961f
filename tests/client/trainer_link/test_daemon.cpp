// Stands in for a daemon that is killed while its trainer computes: prints the trainer's process id, then
// waits in a batch that never ends.
#include <fmt/core.h>

#include <cstdio>
#include <vector>

#include "tests/client/trainer_link/tiny_run.h"

int main(int argc, char** argv) {
  using namespace starling;
  if (argc != 2) return 2;
  auto trainer = trainer_link::TrainerProcess::create(trainer_link::testing::tiny_options(argv[1], "hang 1"));
  if (!trainer.ok() || !(*trainer)->evaluate().ok()) return 1;
  fmt::print("{}\n", (*trainer)->view().pid);
  std::fflush(stdout);
  std::vector<float> gradient((*trainer)->layout().parameter_count);
  return (*trainer)->train_batch({0, 0, 0, 8}, gradient).ok() ? 0 : 1;
}
