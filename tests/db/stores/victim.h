// A process that writes to a ledger until it is killed.
#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <set>
#include <string>

#include "shared/base/ids.h"

namespace starling::db::testing {

// A ledger_writer that is killed in the middle of its work.
class Victim {
 public:
  // `database` is a file or an address. `how`: "waits" for credit that waits, else empty.
  Victim(const std::string& database, RoundIndex first, const char* how) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::execl(STARLING_LEDGER_WRITER, "ledger_writer", database.c_str(), std::to_string(first).c_str(), how, nullptr);
      ::_exit(127);
    }
    ::close(ends[1]);
    acknowledgements_ = ends[0];
  }
  ~Victim() { ::close(acknowledgements_); }

  // Kills it once `count` writes were acknowledged; adds all acknowledged ones to `acknowledged`.
  void kill_after(int count, std::set<RoundIndex>& acknowledged) {
    RoundIndex round = 0;
    for (int read = 0; read < count && next(round); ++read) acknowledged.insert(round);
    ::kill(pid_, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(pid_, &status, 0) == pid_);
    CHECK(WIFSIGNALED(status));
    while (next(round)) acknowledged.insert(round);
  }

 private:
  bool next(RoundIndex& round) const { return ::read(acknowledgements_, &round, sizeof round) == sizeof round; }

  pid_t pid_ = -1;
  int acknowledgements_ = -1;
};

}  // namespace starling::db::testing
