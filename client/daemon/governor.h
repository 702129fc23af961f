// Keeps everything the policy decides from, on disk where it must survive, and asks it: what may be done now?
// Control thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/daemon/refusals.h"
#include "client/policy/policy.h"
#include "client/sensors/sensors.h"
#include "client/storage/preference_files.h"
#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "shared/wire/control.h"

namespace starling::daemon {

// Counters of a program's life; they only grow, and start at 0 with every program.
struct TrafficCounters {
  std::int64_t averaging = 0;
  std::int64_t models = 0;
  std::int64_t coordinator = 0;
};

class Governor {
 public:
  // `threads`: of the trainer, whatever the preferences say; 0: what they say. `clock` is the volunteer's own, by which
  // schedules are meant; it outlives this.
  Governor(storage::PreferenceFiles files, const Clock& clock, int threads);

  // The verdict of now.
  const policy::Verdict& decide();
  [[nodiscard]] const policy::Verdict& verdict() const { return verdict_; }
  // Whether large downloads are allowed before there is anything to train.
  [[nodiscard]] bool may_prepare() const;
  // How much more models and data may take; far below 0 is possible.
  [[nodiscard]] std::int64_t disk_bytes_left() const;
  [[nodiscard]] MemoryHere memory() const;
  // How fast data may go in each direction, so that the month's cap is not overshot before the next look, which is due
  // in a second; 0: as fast as it likes.
  [[nodiscard]] double bytes_per_s_below_cap() const;
  [[nodiscard]] sensors::Needs needs() const;

  void see(policy::Surroundings surroundings) { surroundings_ = std::move(surroundings); }
  // Saved now and then, when it is much, and by `save_traffic`.
  void count(const TrafficCounters& since_start);
  void save_traffic();
  // A round was finished: a wish to pause after it becomes a pause.
  void on_round_finished();

  // Commands of shared/wire/control.h. What was said to people, or why not; a wish counts even if it cannot be saved.
  Result<std::string> pause(const wire::ControlRequest& request);
  Result<std::string> resume(const wire::ControlRequest& request);
  Result<wire::Preferences> change_preferences(const wire::ControlRequest& request);
  [[nodiscard]] const wire::Preferences& preferences() const { return preferences_; }

  // Fills in the rules' part, and, where it is they that keep from training, the reason.
  void describe(wire::DaemonStatus& status) const;

 private:
  [[nodiscard]] policy::Month month() const;
  Status keep_wish(const wire::PauseWish& wish);

  storage::PreferenceFiles files_;
  const Clock& clock_;
  int threads_;
  policy::UtcOffset offset_;
  wire::Preferences preferences_;
  wire::PauseWish wish_;
  policy::Surroundings surroundings_;
  policy::Verdict verdict_;
  storage::MonthTraffic traffic_;
  TrafficCounters counted_;
  TimePoint traffic_saved_{};
  std::int64_t traffic_saved_total_ = 0;
};

// What a volunteer who does not train may want to know next: "still not training: …".
std::string describe_obstacle(const policy::Verdict& verdict);

}  // namespace starling::daemon
