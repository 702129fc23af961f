// The command line of starling-bench calls.
#pragma once

#include "tests/bench/calls_bench.h"

namespace CLI {
class App;
}

namespace starling::bench {

// Parsing fills `options`.
CLI::App* add_calls_command(CLI::App& app, CallsOptions& options);
// The command of a child; not for people.
CLI::App* add_calls_volunteer_command(CLI::App& app, CallsChild& child);

}  // namespace starling::bench
