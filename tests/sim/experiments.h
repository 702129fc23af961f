// Subcommands that each repeat a claim on its textbook problem, in seconds or minutes (docs/experiments.md).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "shared/base/result.h"

namespace CLI {
class App;
}  // namespace CLI

namespace starling::sim {

class Experiments {
 public:
  // Adds the subcommands, which write into this object when `app` parses.
  explicit Experiments(CLI::App& app);
  Experiments(const Experiments&) = delete;
  Experiments& operator=(const Experiments&) = delete;

  // Runs the chosen one. Returns the exit status: 0, or 1 when training diverged, a picture cannot be written, or the
  // command says that its claim does not hold; none where another subcommand was chosen.
  [[nodiscard]] std::optional<int> run(const CLI::App& app) const;

 private:
  struct Experiment {
    std::string name;
    std::function<Status()> run;
  };
  std::vector<Experiment> experiments_;
};

}  // namespace starling::sim
