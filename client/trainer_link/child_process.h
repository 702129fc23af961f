// One child process: started by exec with exactly the given descriptors, ended by SIGKILL, reaped once. It inherits
// nothing else from the parent: no other descriptor, no environment, no signal mask.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "shared/base/unique_fd.h"

namespace starling::trainer_link {

// Number of the first descriptor in the child; the others follow it.
constexpr int kFirstChildFd = 3;

// A child's program and everything that it inherits. It gets copies of `fds`, in this order from kFirstChildFd on; the
// caller keeps its own.
struct SpawnOptions {
  std::filesystem::path program;
  std::vector<std::string> arguments;    // arguments after the program's name
  std::vector<std::string> environment;  // "NAME=value"
  std::vector<int> fds;
};

// All calls from one thread, except where a comment says otherwise.
class ChildProcess {
 public:
  // Starts the child in a process group of its own, with standard input and output on /dev/null, standard error on a
  // pipe.
  static Result<ChildProcess> spawn(const SpawnOptions& options);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  // Ends the child.
  ~ChildProcess();

  [[nodiscard]] pid_t pid() const { return pid_; }
  // Gives a child that seems to be ending the time to do so, so that its exit status tells the cause of death. While
  // one thread waits here, another may call end().
  void wait_for_end(Duration grace) const;
  // Ends the child and everything in its group, and waits for its end. Harmless when it ended already.
  void end();
  // "was killed by signal 11 (Segmentation fault)", "ended with exit code 3". To be called after end().
  [[nodiscard]] std::string epitaph() const;

  // Becomes readable when the child wrote to its standard error.
  [[nodiscard]] int error_output() const { return error_pipe_.get(); }
  // Reads and logs the available output, and keeps the last bytes. False when the pipe is closed.
  bool drain_error_output();
  [[nodiscard]] const std::string& last_output() const { return last_output_; }

  // Activity of the child, to tell one that hangs from one that gets no processor time.
  struct Activity {
    Duration processor_time{0};  // time used by all its threads since it started
    bool runnable = false;       // a thread runs, or waits only for a processor
  };
  [[nodiscard]] Activity activity() const;

 private:
  ChildProcess(pid_t pid, UniqueFd error_pipe) : pid_(pid), error_pipe_(std::move(error_pipe)) {}

  pid_t pid_ = -1;
  bool reaped_ = false;
  bool ended_by_us_ = false;
  int wait_status_ = 0;
  UniqueFd error_pipe_;
  std::string last_output_;
};

}  // namespace starling::trainer_link
