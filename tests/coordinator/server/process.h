// Another program, run to its end or until it is killed. Its standard output and error are one text.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace starling::server::testing {

struct Ended {
  int status = 0;  // exit status; 128 + signal when a signal ended it
  std::string output;
  [[nodiscard]] std::string last_line() const;
  [[nodiscard]] bool says(const std::string& text) const { return output.find(text) != std::string::npos; }
};

class Process {
 public:
  explicit Process(const std::vector<std::string>& command);
  ~Process();  // kills it if it still runs
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Reads output until it contains `text`; false if the program ended before.
  bool wait_for(const std::string& text);
  void signal(int number) const;
  // Waits for its end.
  Ended end();

 private:
  bool read_more();

  pid_t pid_ = -1;
  int output_ = -1;
  std::string text_;
};

// Runs to the end.
Ended run(const std::vector<std::string>& command);

}  // namespace starling::server::testing
