// Copies of this program as separate processes, steered line by line: what a benchmark of peers needs.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "shared/base/result.h"

namespace starling::bench {

// The parent's end of one child. Ends the child when it goes.
class ChildProcess {
 public:
  // Runs `program` (this very one by default) with `arguments`; it talks through its standard input and output. What it
  // says on standard error is added to `log`; empty: it goes where ours goes.
  static Result<std::unique_ptr<ChildProcess>> start(const std::vector<std::string>& arguments,
                                                     const std::string& program = "/proc/self/exe",
                                                     const std::string& log = "");
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  Status send(const std::string& line);
  // unavailable when the child ended.
  Result<std::string> receive();
  [[nodiscard]] pid_t pid() const { return pid_; }
  // Hangs up when the child ends.
  [[nodiscard]] int channel() const { return fd_; }

 private:
  ChildProcess(pid_t pid, int fd) : pid_(pid), fd_(fd) {}
  pid_t pid_;
  int fd_;
  std::string buffer_;
};

// The child's end: a line from the parent (empty at the end), and a line to it.
std::string read_command();
void answer(const std::string& line);

// A field of /proc/PID/status in bytes, such as "VmRSS:"; 0 when there is no such process.
double status_field_bytes(const std::string& pid, const std::string& field);

// CPU seconds this process has used, and its memory in bytes: the most it ever had resident, and what it has now.
double cpu_seconds();
// How often its threads have waited so far, and were woken.
double times_waited();
double peak_resident_bytes();
double resident_bytes();
// Of that, pages of programs and libraries: all processes share them, and the system can drop them.
double resident_code_bytes();

}  // namespace starling::bench
