#include "client/optim/step_journal.h"

namespace starling::optim {

namespace {
std::uint64_t mark_in_progress(RoundIndex round) { return 2 * (static_cast<std::uint64_t>(round) + 1); }
}  // namespace

// The marker begins a step, so the counter is set before it.
void StepJournal::begin(RoundIndex round) {
  if (in_progress(round) || finished(round)) return;
  marker.store(0, std::memory_order_release);
  progress.store(0, std::memory_order_release);
  marker.store(mark_in_progress(round), std::memory_order_release);
}

void StepJournal::finish() { marker.fetch_or(1, std::memory_order_release); }

void StepJournal::clear() { marker.store(0, std::memory_order_release); }

bool StepJournal::in_progress(RoundIndex round) const {
  return marker.load(std::memory_order_acquire) == mark_in_progress(round);
}

bool StepJournal::finished(RoundIndex round) const {
  return marker.load(std::memory_order_acquire) == (mark_in_progress(round) | 1);
}

}  // namespace starling::optim
