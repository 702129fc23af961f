// Keeps the reports of finished rounds on disk until the coordinator has them (client/storage/round_journal.h). A disk
// that does not take them stops nothing: it is a problem for the volunteer's eyes. Control thread.
#pragma once

#include <string>
#include <utility>

#include "client/daemon/disk_problem.h"
#include "client/storage/round_journal.h"
#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/protocol/round_report.h"

namespace starling::daemon {

class ReportKeeper {
 public:
  explicit ReportKeeper(storage::RoundJournal journal) : journal_(std::move(journal)) {}

  // On failure the coordinator still gets the report; only a crash before that would lose it.
  void record(const wire::RoundReport& report, Duration round_duration);
  // Reports of rounds below this are settled. Cheap where nothing new is settled.
  void forget(RoundIndex below);
  // Reports of this round and of later ones are void.
  void withdraw(RoundIndex from);

  // A sentence for the volunteer; empty while the disk takes everything.
  [[nodiscard]] const std::string& problem() const { return problem_.text(); }

 private:
  storage::RoundJournal journal_;
  DiskProblem problem_{"keep finished rounds on disk"};
  RoundIndex forgotten_below_ = 0;
};

}  // namespace starling::daemon
