// The volunteer's decisions, kept in the data directory: preferences.json (may be edited by hand while no daemon runs),
// pause.json, and the used part of the month's data, traffic.json. Every file is replaced atomically; a damaged one is
// kept aside and reported.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "shared/control/pause_request.h"
#include "shared/control/preferences.h"

namespace starling::storage {

constexpr std::size_t kMonthsBeforeMax = 3;

// Bytes sent and received in a month of the data cap, by purpose.
struct MonthTraffic {
  WallTime since;  // begin of the month by the computer's clock
  std::int64_t averaging = 0;
  std::int64_t models = 0;       // states that peers send
  std::int64_t coordinator = 0;  // heartbeats, manifests, training data
  // Earlier months that are not over by both clocks yet, oldest first; at most kMonthsBeforeMax, and they have none
  // themselves.
  std::vector<MonthTraffic> before = {};
  WallTime by_coordinator = {};  // begin of the month by the coordinator's clock; zero: it had not told the time yet
  [[nodiscard]] std::int64_t total() const { return averaging + models + coordinator; }

  friend bool operator==(const MonthTraffic&, const MonthTraffic&) = default;
};

// One owner at a time: the daemon that holds the directory's lock.
class PreferenceFiles {
 public:
  explicit PreferenceFiles(std::filesystem::path dir) : dir_(std::move(dir)) {}

  // Defaults if the file is missing or damaged.
  wire::Preferences preferences();
  // A damaged file counts as paused, because the volunteer may have paused.
  wire::PauseRequest pause_request();
  MonthTraffic traffic();
  Status save(const wire::Preferences& preferences);
  Status save(const wire::PauseRequest& pause_request);
  Status save(const MonthTraffic& traffic);

  // Sentences for people about damaged files.
  [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }

 private:
  template <typename T, typename Decode>
  T load(const char* name, const Decode& decode, T when_damaged);

  std::filesystem::path dir_;
  std::vector<std::string> problems_;
};

}  // namespace starling::storage
