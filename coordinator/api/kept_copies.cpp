#include "coordinator/api/kept_copies.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace starling::api {
namespace {

constexpr std::int64_t kHourMs = 3'600'000;
constexpr std::int64_t kDayMs = 24 * kHourMs;
constexpr std::int64_t kWeekMs = 7 * kDayMs;

// The hours, days and number of copies of one run that were met so far, from its newest copy on.
struct Met {
  std::size_t copies = 0;
  std::set<std::int64_t> hours;
  std::set<std::int64_t> days;
};

bool is_kept_for_its_age(const db::KeptCheckpoint& copy, WallTime now, Met& met) {
  const std::int64_t age = now.unix_ms - copy.at.unix_ms;
  const bool of_hour = age < kDayMs && met.hours.insert(copy.at.unix_ms / kHourMs).second;
  const bool of_day = age < kWeekMs && met.days.insert(copy.at.unix_ms / kDayMs).second;
  return ++met.copies <= kNewestCopiesKept || of_hour || of_day;
}

// The bytes of copies, each file once.
class Files {
 public:
  void add(const db::KeptCheckpoint& copy) {
    if (++users_[copy.artefact] == 1) bytes_ += copy.bytes;
  }
  void remove(const db::KeptCheckpoint& copy) {
    if (--users_[copy.artefact] == 0) bytes_ -= copy.bytes;
  }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  std::map<Digest, int> users_;
  std::int64_t bytes_ = 0;
};

}  // namespace

std::vector<db::KeptCheckpoint> outdated_copies(std::vector<db::KeptCheckpoint> copies, WallTime now,
                                                std::int64_t bytes_max) {
  std::sort(copies.begin(), copies.end(),
            [](const auto& a, const auto& b) { return std::pair(a.run_id, a.round) > std::pair(b.run_id, b.round); });
  std::map<RunId, Met> met;
  const auto outdated = std::stable_partition(copies.begin(), copies.end(), [&](const db::KeptCheckpoint& copy) {
    return is_kept_for_its_age(copy, now, met[copy.run_id]);
  });
  std::vector<db::KeptCheckpoint> gone(outdated, copies.end());
  copies.erase(outdated, copies.end());

  Files files;
  std::map<RunId, std::size_t> left;
  for (const db::KeptCheckpoint& copy : copies) {
    files.add(copy);
    left[copy.run_id] += 1;
  }
  std::sort(copies.begin(), copies.end(), [](const auto& a, const auto& b) {
    return std::pair(a.at.unix_ms, a.round) < std::pair(b.at.unix_ms, b.round);
  });
  for (const db::KeptCheckpoint& copy : copies) {
    if (files.bytes() <= bytes_max) break;
    if (left[copy.run_id] <= kNewestCopiesKept) continue;
    left[copy.run_id] -= 1;
    files.remove(copy);
    gone.push_back(copy);
  }
  return gone;
}

}  // namespace starling::api
