// This computer's work, round by round, kept on disk: one JSON line for each finished round in rounds.jsonl (for people
// and programs), and the reports that the coordinator has not acknowledged yet, in reports-RUN.jsonl (they survive a
// crash, and wait while another run is trained).
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/protocol/round_report.h"

namespace starling::storage {

constexpr std::size_t kPendingReportsMax = 4096;

// Not thread-safe; one owner at a time.
class RoundJournal {
 public:
  // Reads the existing files; drops a torn last line (a crash while writing).
  static Result<RoundJournal> open(const std::filesystem::path& folder, const RunId& run_id);
  RoundJournal(RoundJournal&&) noexcept;
  RoundJournal& operator=(RoundJournal&&) noexcept;
  ~RoundJournal();

  // Appends and syncs:
  //   {"run_id","round","group_id","autonomous","state_digest","contributions":{peer hex: samples},"seconds"}
  // The report is pending from now on. Lines that do not fit on the disk are kept in memory and written by a later call
  // of record() or forget() that finds room; these succeed once no line is missing on disk.
  Status record(const wire::RoundReport& report, Duration round_duration);
  // Reports of rounds below this are settled.
  Status forget(RoundIndex below);
  // Reports of this round and of later ones are void; those before it have been settled. In rounds.jsonl they stay, and
  // a line {"run_id","void_from"} follows them.
  Status withdraw(RoundIndex from);
  // Oldest first.
  [[nodiscard]] const std::vector<wire::RoundReport>& pending() const;

 private:
  struct Files;
  explicit RoundJournal(std::unique_ptr<Files> files);
  std::unique_ptr<Files> files_;
};

}  // namespace starling::storage
