// Copies of this program as separate processes, controlled line by line, for benchmarks of peers.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/result.h"

namespace starling::bench {

// The parent's end of one child. Its destructor ends the child.
class ChildProcess {
 public:
  // Runs `program` (this one by default) with `arguments`; its standard input and output are the channel. Its standard
  // error is added to the file `log`; empty: it goes to ours.
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
  // Descriptor that hangs up when the child ends.
  [[nodiscard]] int channel() const { return fd_; }

 private:
  ChildProcess(pid_t pid, int fd) : pid_(pid), fd_(fd) {}
  pid_t pid_;
  int fd_;
  std::string buffer_;
};

// By rank.
using Children = std::vector<std::unique_ptr<ChildProcess>>;
// Tells all children `command` and collects their answers.
Result<std::vector<std::string>> ask_all(const Children& children, const std::string& command);
Status tell_all(const Children& children, const std::string& command);
Result<std::vector<std::string>> hear_all(const Children& children);
// Waits; unavailable as soon as a child ends meanwhile.
Status rest_beside(const Children& children, Duration length);

// The child's end: reads a line from the parent (empty at the end), and sends it one.
std::string read_command();
void answer(const std::string& line);

// A field of /proc/PID/status in bytes, such as "VmRSS:"; 0 when there is no such process.
double status_field_bytes(const std::string& pid, const std::string& field);

// CPU seconds that this process has used. Its memory in bytes is peak_resident_bytes() at most, and resident_bytes()
// now.
double cpu_seconds();
// Number of waits of its threads so far.
double times_waited();
double peak_resident_bytes();
double resident_bytes();
// Share of resident_bytes() in pages of programs and libraries: all processes share them, and the system can drop them.
double resident_code_bytes();

}  // namespace starling::bench
