// One child process: started by exec with exactly the descriptors it is given, ended by SIGKILL, reaped
// once. Nothing of the parent leaks into it: no other descriptor, no environment, no signal mask.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "shared/base/unique_fd.h"

namespace starling::trainer_link {

// The child finds the first of its descriptors at this number, the others behind it.
constexpr int kFirstChildFd = 3;

struct SpawnOptions {
  std::filesystem::path program;
  std::vector<std::string> arguments;    // behind the program's name
  std::vector<std::string> environment;  // "NAME=value"
  std::vector<int> fds;
};

// All calls from one thread, except where a comment says otherwise.
class ChildProcess {
 public:
  // In a process group of its own, standard input and output on /dev/null, standard error on a pipe.
  static Result<ChildProcess> spawn(const SpawnOptions& options);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  // Ends the child.
  ~ChildProcess();

  [[nodiscard]] pid_t pid() const { return pid_; }
  // Gives a child that seems to be ending by itself the time to, so that it can tell its own cause of death. While
  // one thread waits here, another may call end().
  void wait_for_end(Duration grace) const;
  // Ends the child and everything in its group, and waits for its end. Harmless when it ended already.
  void end();
  // "was killed by signal 11 (Segmentation fault)", "ended with exit code 3". After end().
  [[nodiscard]] std::string epitaph() const;

  // Readable when the child wrote to its standard error.
  [[nodiscard]] int error_output() const { return error_pipe_.get(); }
  // Takes what is there, logs it, and remembers the last bytes. False when the pipe is closed.
  bool drain_error_output();
  [[nodiscard]] const std::string& last_words() const { return last_words_; }

  // What the child is doing, to tell one that hangs from one that others keep from computing.
  struct Activity {
    Duration processor_time{0};  // used by all its threads since it started
    bool runnable = false;       // a thread runs, or would if it were given a processor
  };
  [[nodiscard]] Activity activity() const;

 private:
  ChildProcess(pid_t pid, UniqueFd error_pipe) : pid_(pid), error_pipe_(std::move(error_pipe)) {}

  pid_t pid_ = -1;
  bool reaped_ = false;
  bool ended_by_us_ = false;
  int wait_status_ = 0;
  UniqueFd error_pipe_;
  std::string last_words_;
};

}  // namespace starling::trainer_link
