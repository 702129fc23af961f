// What the volunteer decided, kept in the data directory: preferences.json (may be edited by hand while no daemon
// runs), pause.json, and how much of the month's data is used, traffic.json. Every file is replaced atomically; a
// damaged one is kept aside, and told.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "shared/wire/pause_wish.h"
#include "shared/wire/preferences.h"

namespace starling::storage {

// Bytes sent and received since the month of data began, by what they were for.
struct MonthTraffic {
  WallTime since;
  std::int64_t averaging = 0;
  std::int64_t models = 0;       // states that peers hand over
  std::int64_t coordinator = 0;  // heartbeats, manifests, training data
  [[nodiscard]] std::int64_t total() const { return averaging + models + coordinator; }

  friend bool operator==(const MonthTraffic&, const MonthTraffic&) = default;
};

// One owner at a time: the daemon that holds the directory's lock.
class PreferenceFiles {
 public:
  explicit PreferenceFiles(std::filesystem::path dir) : dir_(std::move(dir)) {}

  // Defaults where there is no file, or a damaged one.
  wire::Preferences preferences();
  // Whoever paused and lost the note of it is still paused: a damaged file says so.
  wire::PauseWish wish();
  MonthTraffic traffic();
  Status save(const wire::Preferences& preferences);
  Status save(const wire::PauseWish& wish);
  Status save(const MonthTraffic& traffic);

  // Files that were found damaged, in sentences for people.
  [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }

 private:
  template <typename T, typename Decode>
  T load(const char* name, const Decode& decode, T when_damaged);

  std::filesystem::path dir_;
  std::vector<std::string> problems_;
};

}  // namespace starling::storage
