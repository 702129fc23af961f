// Looks for updates now and then, fetches them where this installation may change itself, and says when one waits to be
// started. It works on a thread of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "client/daemon/task_loop.h"
#include "client/daemon/update_agenda.h"
#include "client/updates/installation.h"
#include "client/updates/updater.h"
#include "shared/base/mutex.h"
#include "shared/control/control.h"

namespace starling::daemon {

// Paths of this installation and its feed, fixed while the daemon runs, and the functions that connect the keeper to
// it.
struct UpdateOptions {
  std::filesystem::path source;   // shared with all installations of one packager; see client/updates/update_source.h
  std::filesystem::path program;  // this daemon's own
  std::filesystem::path data_dir;
  std::function<void()> changed;  // the status has changed; on this keeper's thread
  net::Line* line = nullptr;      // line of its traffic; outlives the keeper
};

class UpdateKeeper {
 public:
  UpdateKeeper(UpdateOptions options, const Clock& clock);
  ~UpdateKeeper();

  // Sets the rules. The keeper is idle until it is called for the first time. Any thread.
  void obey(const UpdateRules& rules) EXCLUDES(mutex_);
  // Looks at once and, with `install`, installs a newer version whatever the rules say. Blocks while it looks; the
  // installation goes on meanwhile. Returns the text for the volunteer. Any thread but this keeper's.
  Result<std::string> ask(bool install);
  // Looks soon, because the run wants a newer version, if that was not done within the hour.
  void hurry();
  // Ends its work, and refuses more. Any thread.
  void cancel();
  [[nodiscard]] wire::UpdateStatus status() const EXCLUDES(mutex_);
  // The version that lies there complete and waits to be started; empty: none does.
  [[nodiscard]] std::string waiting() const EXCLUDES(mutex_);
  [[nodiscard]] std::int64_t wire_bytes() const { return updater_ ? updater_->wire_bytes() : 0; }

 private:
  // The keeper's thread.
  void work();
  void check(const UpdateRules& rules);
  void install(const UpdateRules& rules);
  void say(const std::string& state, const std::string& text) EXCLUDES(mutex_);
  [[nodiscard]] UpdateRules rules() const EXCLUDES(mutex_);
  // Waits: a daemon that has just started does not know yet what its rules allow.
  void wait_for_rules() EXCLUDES(mutex_);

  UpdateOptions options_;
  const Clock& clock_;
  std::optional<updates::Installation> installation_;
  std::unique_ptr<updates::Updater> updater_;  // none where nothing says where to look

  mutable Mutex mutex_;
  ConditionVariable news_;
  bool cancelled_ GUARDED_BY(mutex_) = false;
  std::optional<UpdateRules> rules_ GUARDED_BY(mutex_);
  wire::UpdateStatus status_ GUARDED_BY(mutex_);
  std::string waiting_ GUARDED_BY(mutex_);

  // The keeper's thread:
  std::optional<updates::Found> found_;  // a newer version, not installed yet
  UpdateAgenda agenda_;
  bool check_failed_ = false;
  TimePoint checked_at_{};  // the last time, with or without success

  TaskLoop loop_;
};

}  // namespace starling::daemon
