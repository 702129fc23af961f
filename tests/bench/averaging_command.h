// The command line of starling-bench averaging.
#pragma once

#include "tests/bench/averaging_table.h"

namespace CLI {
class App;
}

namespace starling::bench {

// What the command line says is in `arguments` once it is parsed.
CLI::App* add_averaging_command(CLI::App& app, AveragingArguments& arguments);

}  // namespace starling::bench
