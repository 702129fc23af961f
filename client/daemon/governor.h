// Keeps all inputs of the policy, on disk where they must survive, and asks it what may be done now. Control thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/daemon/month_count.h"
#include "client/daemon/permission.h"
#include "client/daemon/refusals.h"
#include "client/policy/policy.h"
#include "client/sensors/sensors.h"
#include "client/storage/preference_files.h"
#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "shared/base/settled_clock.h"
#include "shared/control/control.h"

namespace starling::daemon {

// Counters of a program's life; they only grow, and start at 0 with every program.
struct TrafficCounters {
  std::int64_t averaging = 0;
  std::int64_t models = 0;
  std::int64_t coordinator = 0;
};

class Governor {
 public:
  // `threads`: the trainer's, whatever the preferences say; 0: by the preferences. `clock` is the volunteer's own, by
  // which schedules are meant; it outlives this.
  Governor(storage::PreferenceFiles files, const SettledClock& clock, int threads);

  // Returns the verdict for the present moment.
  const policy::Verdict& decide();
  [[nodiscard]] const policy::Verdict& verdict() const { return verdict_; }
  // Time for which the schedule's hours still allow training; unset: no end is known, or it is not allowed now.
  [[nodiscard]] std::optional<Duration> stops_in() const;
  // True if large downloads are allowed before there is anything to train.
  [[nodiscard]] bool may_prepare() const;
  // Bytes that models and data may still take; far below 0 is possible.
  [[nodiscard]] std::int64_t disk_bytes_left() const;
  [[nodiscard]] MemoryHere memory() const;
  [[nodiscard]] CardRules card() const { return {surroundings_.has_gpu, verdict_.gpu_text}; }
  // The rate that each direction may have so that the month's cap is not overshot before the next look, which is due in
  // a second; 0: no limit.
  [[nodiscard]] double bytes_per_s_below_cap() const;
  [[nodiscard]] sensors::Needs needs() const;

  // The coordinator's time, for the month of the data cap; empty: nobody has told it yet.
  void hear_time(std::optional<WallTime> coordinators) { coordinators_time_ = coordinators; }
  void see(policy::Surroundings surroundings) { surroundings_ = std::move(surroundings); }
  // Counts traffic. The count is saved now and then, when it is much, and by `save_traffic`.
  void count(const TrafficCounters& since_start);
  void save_traffic();
  // Notes that a round was finished: a request to pause after it becomes a pause.
  void on_round_finished();

  // Commands of shared/control/control.h. Each returns the text for people, or the error; a request counts even if it
  // cannot be saved.
  Result<std::string> pause(const wire::Pause& request);
  Result<std::string> resume(const wire::Resume& request);
  Result<wire::Preferences> change_preferences(const wire::SetPreferences& request);
  [[nodiscard]] const wire::Preferences& preferences() const { return preferences_; }

  // Fills in the rules' part, and the reason if the rules stop training.
  void describe(wire::DaemonStatus& status) const;

 private:
  [[nodiscard]] policy::Month month_of(WallTime when) const;
  // A length of time that was asked for here lasts as long, whatever time the clock was set to meanwhile.
  void move_snoozes();
  Status keep_pause_request(const wire::PauseRequest& pause_request);

  storage::PreferenceFiles files_;
  const SettledClock& clock_;
  std::optional<WallTime> coordinators_time_;
  int threads_;
  policy::UtcOffset offset_;
  wire::Preferences preferences_;
  wire::PauseRequest pause_request_;
  // The pauses that end after a length of time by this clock, and how far it had jumped when they were looked at.
  struct {
    bool pause = false;
    bool gpu = false;
    std::int64_t jumped_ms = 0;
  } snoozed_here_;
  policy::Surroundings surroundings_;
  policy::Verdict verdict_;
  MonthCount traffic_;
  TrafficCounters counted_;
  TimePoint traffic_saved_{};
  std::int64_t traffic_saved_total_ = 0;
};

// Returns the next obstacle for a volunteer who does not train: "still not training: …".
std::string describe_obstacle(const policy::Verdict& verdict);

}  // namespace starling::daemon
