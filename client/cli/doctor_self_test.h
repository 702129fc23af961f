// Whether this computer computes right: a computation with a known answer, repeated, and patterns written to memory and
// read back. Overclocked or broken parts do it wrong now and then, and such a volunteer's work would be refused.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "client/cli/doctor.h"
#include "client/session/trainer.h"
#include "client/trainer_link/trainer_process.h"
#include "shared/base/clock.h"
#include "shared/base/result.h"

namespace starling::cli {

struct SelfTestOptions {
  Duration computing{0};                                            // repeats for at least so long, and at least once
  std::int64_t memory_bytes = 0;                                    // memory that is looked at; 0: none
  std::function<bool()> stopped = [] { return false; };             // asked often: the user wants no more of it
  std::function<void(const std::string&)> progress = [](auto&) {};  // a line to show in place of the last one
};

// The small run that is computed, for a trainer with that many threads. It needs no project and no daemon.
Result<trainer_link::TrainerProcessOptions> self_test_run(const std::filesystem::path& program, int threads);

// Computes one gradient of that run again and again. Bad if it is not the known one, up to rounding, or not the first
// one to the bit; or if there is none. A note if it was stopped.
Finding check_computing(session::Trainer& trainer, const Clock& clock, const SelfTestOptions& options);

// Writes two patterns to as much memory, and reads them back. `between` may look at a piece of the memory between
// writing and reading.
Finding check_memory(
    const SelfTestOptions& options, const std::function<void(std::span<std::uint64_t>)>& between = [](auto) {});

}  // namespace starling::cli
