// The parameters of earlier states, at which others' samples are recomputed (shared/protocol/audit.h). Each lies in a
// file without a name, which is gone when the process ends; where it is kept for long, the system writes it to the disk
// once.
#pragma once

#include <cstddef>
#include <map>
#include <span>

#include "client/storage/previous_state.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"

namespace starling::storage {

// Not thread-safe; one owner at a time.
class AuditedStates {
 public:
  AuditedStates() = default;
  AuditedStates(const AuditedStates&) = delete;
  AuditedStates& operator=(const AuditedStates&) = delete;
  ~AuditedStates();

  // Keeps the first `parameters` floats of the state, which nobody else writes from now on, for the round that began
  // with them.
  Status keep(RoundIndex round, PreviousState::Given state, std::size_t parameters);
  void forget(RoundIndex round);
  // Good until forget(). not_found for a round whose parameters are not kept, or that began here with another state.
  [[nodiscard]] Result<std::span<const float>> parameters(RoundIndex round, const Digest& state) const;

 private:
  struct Kept {
    Digest state;
    std::span<const float> parameters;
  };
  std::map<RoundIndex, Kept> mapped_;
};

}  // namespace starling::storage
