// Reasons why a run is not trained on this computer: until its owner changes something, or something else happens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "shared/base/result.h"
#include "shared/run/run_manifest.h"

namespace starling::daemon {

// An obstacle in the words of the window and the command line. Preparation goes on only after the owner's action.
struct Refusal {
  std::string reason;
  std::string ends_when;  // behind "until"
  std::string action;     // the owner's remedy
  std::string command;    // the remedy as a command, behind `starling`; may be empty
};

// An event that a preparation that failed waits for. It is tried again all the same.
struct Obstacle {
  std::string ends_when;    // behind "until"
  bool is_problem = false;  // something is wrong that somebody has to mend; otherwise waiting is enough
};
// Begins the Error of a port for other volunteers that cannot be opened.
inline constexpr std::string_view kOpenPort = "open the port for other volunteers";
Obstacle obstacle_of(const Error& error);

// Bytes; 0: not known, and nothing is refused for it.
struct MemoryHere {
  std::int64_t installed = 0;
  std::int64_t allowed = 0;                // the most that the preferences ever leave to training
  std::optional<std::int64_t> cells = {};  // the most of that for cells of models that are shared out; unset: all
};

// The bytes that values of others' calls may take in a run with cells.
std::int64_t desk_bytes(const MemoryHere& memory);

// The bytes that the manifest's model, or its piece, needs here at least: with micro-batches of one sample and, in a
// run of cells, the values of calls, but without any cell.
double bytes_needed(const wire::RunManifest& manifest, const MemoryHere& memory);

// Returns none where the memory suffices; without a piece there has to be room for one cell.
std::optional<Refusal> refuse_for_memory(const wire::RunManifest& manifest, const MemoryHere& memory);

// Returns none for a run whose manifest alone says what is computed, and for a program that was `allowed`. The command
// names the project by its address: a name may be anything, and people copy the command into a shell.
std::optional<Refusal> refuse_program(const wire::RunManifest& manifest, const std::string& address, bool allowed);

}  // namespace starling::daemon
