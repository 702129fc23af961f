#include "client/storage/audited_states.h"

#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace starling::storage {
namespace {

void unmap(std::span<const float> mapped) {
  ::munmap(const_cast<float*>(mapped.data()), mapped.size_bytes());  // NOLINT: the system's call takes void*
}

}  // namespace

AuditedStates::~AuditedStates() {
  for (const auto& [round, kept] : mapped_) unmap(kept.parameters);
}

Status AuditedStates::keep(RoundIndex round, PreviousState::Given state, std::size_t parameters) {
  forget(round);
  const std::size_t bytes = parameters * sizeof(float);
  if (::ftruncate(state.file.get(), static_cast<off_t>(bytes)) != 0) {
    return Error{ErrorCode::io, fmt::format("keep a state for audits: {}", std::strerror(errno))};
  }
  void* const base = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, state.file.get(), 0);
  if (base == MAP_FAILED) {
    return Error{ErrorCode::resource_exhausted, fmt::format("keep a state for audits: {}", std::strerror(errno))};
  }
  mapped_[round] = {state.digest, {static_cast<const float*>(base), parameters}};
  return {};
}

void AuditedStates::forget(RoundIndex round) {
  const auto mapped = mapped_.find(round);
  if (mapped == mapped_.end()) return;
  unmap(mapped->second.parameters);
  mapped_.erase(mapped);
}

Result<std::span<const float>> AuditedStates::parameters(RoundIndex round, const Digest& state) const {
  const auto mapped = mapped_.find(round);
  if (mapped == mapped_.end() || mapped->second.state != state) {
    return Error{ErrorCode::not_found, fmt::format("the state that round {} began with is not kept here", round)};
  }
  return mapped->second.parameters;
}

}  // namespace starling::storage
