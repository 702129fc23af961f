// The command line of starling-bench averaging.
#pragma once

#include "tests/bench/averaging_table.h"

namespace CLI {
class App;
}

namespace starling::bench {

// Parsing fills `arguments`.
CLI::App* add_averaging_command(CLI::App& app, AveragingArguments& arguments);

}  // namespace starling::bench
