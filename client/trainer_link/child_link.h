// A child process on demand: starts it, talks to it within a time limit, and reaps it. One thread calls; stop() may
// come from any other at any moment.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/trainer_link/child_process.h"
#include "client/trainer_link/messages.h"
#include "client/trainer_link/restart_policy.h"
#include "client/trainer_link/trainer_process.h"
#include "shared/base/clock.h"
#include "shared/base/deadline.h"
#include "shared/base/mutex.h"

namespace starling::trainer_link {

class ChildLink {
 public:
  // `options` must outlive the link, and may change only in the calling thread while there is no child; `memory_fd` is
  // the shared region's.
  ChildLink(const TrainerProcessOptions& options, session::StateLayout layout, int memory_fd);
  ~ChildLink();

  // Starts a child if there is none, and has it carry out the request. `work` in floating-point operations sets the
  // time limit. After a failure the child either gave the reason and lives, or is dead and reaped.
  Result<Reply> call(Request request, double work);
  // Like call(), but returns unavailable instead of starting a child when there is none.
  Result<Reply> call_living(Request request, double work);
  // Sets the function that calls run for each stepped bucket, by number, before the reply to a batch. If it returns an
  // error, the child is condemned.
  void on_bucket_stepped(std::function<Status(int bucket)> stepped) { bucket_stepped_ = std::move(stepped); }
  // Ends a child that broke a promise which only the caller could check. Returns the error that call() would have
  // returned.
  Error condemn(Command command, std::string why);

  void stop();
  [[nodiscard]] TrainerProcessView view() const;

 private:
  Status ensure_child(std::uint64_t stops_seen);
  Status wait_for_turn(std::uint64_t stops_seen);
  Status spawn(std::uint64_t stops_seen);
  Status introduce();
  [[nodiscard]] bool has_child() const;
  Result<Reply> perform(Request& request, double work);
  Result<Reply> exchange(Request& request, double work);
  Result<Reply> await_reply(const Request& request, Duration allowed);
  Result<Reply> take_reply(const Request& request);
  [[nodiscard]] bool is_starved(const ChildProcess::Activity& now, Duration processor_time_before,
                                Duration allowed) const;
  Error bury(Command command, ErrorCode code, std::string why);
  std::uint64_t stops() const;

  const TrainerProcessOptions& options_;
  const session::StateLayout layout_;
  const int memory_fd_;
  SystemClock clock_;
  std::array<Deadline, kCommands> deadlines_;  // indexed by command
  RestartPolicy restarts_;
  UniqueFd channel_;
  std::unique_ptr<ChildProcess> child_;
  std::uint64_t sequence_ = 0;
  std::function<Status(int bucket)> bucket_stepped_;

  mutable Mutex mutex_;
  ConditionVariable stop_called_;
  ChildProcess* endable_ GUARDED_BY(mutex_) = nullptr;  // child_, while stop() may end it
  bool ended_by_stop_ GUARDED_BY(mutex_) = false;
  std::uint64_t stops_ GUARDED_BY(mutex_) = 0;
  TrainerProcessView view_ GUARDED_BY(mutex_);
};

}  // namespace starling::trainer_link
