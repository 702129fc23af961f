#include "client/daemon/refusals.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "shared/crypto/wrong_clock.h"
#include "shared/run/cells.h"
#include "shared/run/model_layout.h"

namespace starling::daemon {

Obstacle obstacle_of(const Error& error) {
  if (error.message.starts_with(kOpenPort)) {
    return {"the port is free, or the daemon is started with another --port", true};
  }
  if (crypto::is_wrong_clock(error)) return {"the clocks are right", true};
  switch (error.code) {
    case ErrorCode::resource_exhausted:
      return {"there is room for it", true};
    case ErrorCode::io:
      return {"this computer lets it happen", true};
    case ErrorCode::unavailable:
    case ErrorCode::deadline_exceeded:
      return {"the coordinator answers", false};
    case ErrorCode::unauthenticated:
      return {"the coordinator takes this computer's certificate", true};
    case ErrorCode::permission_denied:
    case ErrorCode::already_exists:
      return {"the project's operator settles it", true};
    case ErrorCode::not_found:
      return {"the project has a run", false};
    case ErrorCode::unsupported:
      return {"Starling is updated", false};
    case ErrorCode::corrupt:
    case ErrorCode::invalid_argument:
      return {"the project sends what can be used", true};
    case ErrorCode::failed_precondition:
      return {"that has changed", false};
    case ErrorCode::internal:
      break;
  }
  return {"a further try succeeds", true};
}

std::int64_t desk_bytes(const MemoryHere& memory) {
  constexpr std::int64_t kMost = 256'000'000, kLeast = 64'000'000;
  const std::int64_t here = memory.allowed > 0 ? memory.allowed : memory.installed;
  return here > 0 ? std::clamp(here / 16, kLeast, kMost) : kMost;
}

double bytes_needed(const wire::RunManifest& manifest, const MemoryHere& memory) {
  const bool answers_calls = wire::computes_tasks(manifest.model);
  return wire::memory_needs(manifest).total() + (answers_calls ? static_cast<double>(desk_bytes(memory)) : 0.0);
}

std::optional<Refusal> refuse_for_memory(const wire::RunManifest& manifest, const MemoryHere& memory) {
  constexpr double kGigabyte = 1e9;
  constexpr double kPercentMax = 95;  // the most that the preferences can leave
  if (memory.installed <= 0 || memory.allowed <= 0) return std::nullopt;
  const bool holds_only = manifest.model.experts.piece == wire::kNoPiece;
  const double needed =
      bytes_needed(manifest, memory) + (holds_only ? static_cast<double>(wire::held_bytes(manifest, 0)) : 0.0);
  if (needed <= static_cast<double>(memory.allowed)) return std::nullopt;
  const double installed = static_cast<double>(memory.installed);
  const double percent = std::ceil(100 * needed / installed);
  if (percent > kPercentMax) {
    return Refusal{fmt::format("this run needs more memory than this computer has: {:.1f} GB, and {:.1f} are here",
                               needed / kGigabyte, installed / kGigabyte),
                   "the project trains a smaller model", "choose another project", ""};
  }
  return Refusal{
      fmt::format("this run needs more memory than you allow: {:.1f} GB, and your limits leave {:.1f} of "
                  "the {:.1f} that are here",
                  needed / kGigabyte, static_cast<double>(memory.allowed) / kGigabyte, installed / kGigabyte),
      "you allow more memory", "allow more memory while nobody uses the computer",
      fmt::format("prefs set memory_idle_percent {:.0f}", percent)};
}

std::optional<Refusal> refuse_program(const wire::RunManifest& manifest, const std::string& address, bool allowed) {
  if (!wire::has_program(manifest.model) || allowed) return std::nullopt;
  const wire::Artefact& program = manifest.model.script.program;
  return Refusal{fmt::format("this run's model is a program of the project's own, which runs here only if you agree: "
                             "{:.1f} MB, SHA-256 {}; it would be locked in, without network and files",
                             static_cast<double>(program.bytes) / 1e6, program.sha256.hex().substr(0, 16)),
                 "you allow it", "allow it, if you trust this project", fmt::format("projects allow {}", address)};
}

}  // namespace starling::daemon
