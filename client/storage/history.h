// This computer's history for plots: the newest rounds one by one, and stretches of 5 minutes, 2 hours and a day
// further back. Its size is bounded. Kept in DIR/history.json.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/result.h"
#include "shared/control/control_views.h"

namespace starling::storage {

class History {
 public:
  // Adds a finished round, whose end is in `begin`.
  void add(const wire::HistoryPoint& round);
  // Oldest first.
  [[nodiscard]] const std::vector<wire::HistoryPoint>& points(wire::HistorySpan span) const;

  [[nodiscard]] std::string encode() const;
  static Result<History> decode(std::string_view json);

 private:
  std::array<std::vector<wire::HistoryPoint>, wire::kHistorySpans> spans_;
};

// One owner at a time: the daemon that holds the directory's lock.
class HistoryFile {
 public:
  // Starts empty if there is no file; a damaged file is set aside, because it must not keep the daemon from starting.
  explicit HistoryFile(const std::filesystem::path& dir);
  void add(const wire::HistoryPoint& round);
  [[nodiscard]] const History& history() const { return history_; }
  // Writes the file if a round was added since the last save.
  Status save();
  // Removes the file of a project that was left.
  Status remove();

 private:
  std::filesystem::path path_;
  History history_;
  bool changed_ = false;
};

}  // namespace starling::storage
