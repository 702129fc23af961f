#include "shared/base/standard_output.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <iostream>
#include <string>

using namespace starling;

namespace {

struct Ended {
  int status = 0;
  std::string said;  // on standard error
};

// A program that prints to this descriptor, and ends with a status.
Ended run(int output, int status, bool by_stream = false) {
  int errors[2];
  REQUIRE(::pipe(errors) == 0);
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGPIPE, SIG_IGN);
    ::dup2(output, STDOUT_FILENO);
    ::dup2(errors[1], STDERR_FILENO);
    if (by_stream) {
      std::cout << "a password\n";
    } else {
      std::fputs("a password\n", stdout);
    }
    const int ended = with_output_written("prog", status);
    std::fflush(stderr);
    ::_exit(ended);
  }
  ::close(errors[1]);
  Ended ended;
  char letter = 0;
  while (::read(errors[0], &letter, 1) == 1) ended.said += letter;
  ::close(errors[0]);
  int code = 0;
  REQUIRE(::waitpid(child, &code, 0) == child);
  ended.status = WEXITSTATUS(code);
  return ended;
}

}  // namespace

TEST_CASE("output that a full disk did not take is told, and the program fails") {
  const int full = ::open("/dev/full", O_WRONLY);
  REQUIRE(full >= 0);
  for (const bool by_stream : {false, true}) {
    const Ended ended = run(full, 0, by_stream);
    CHECK(ended.status == 1);
    CHECK(ended.said.find("prog: not all of the output could be written") == 0);
    CHECK(ended.said.find("is done") != std::string::npos);
  }
  CHECK(run(full, 3).status == 3);
  CHECK(run(full, 3).said.find("failed, too") != std::string::npos);
  ::close(full);
}

TEST_CASE("output that was taken, or whose reader has left, is no failure") {
  const int nothing = ::open("/dev/null", O_WRONLY);
  REQUIRE(nothing >= 0);
  CHECK(run(nothing, 0).status == 0);
  CHECK(run(nothing, 0).said.empty());
  CHECK(run(nothing, 2).status == 2);
  ::close(nothing);
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  ::close(ends[0]);
  CHECK(run(ends[1], 0).status == 0);
  CHECK(run(ends[1], 0).said.empty());
  ::close(ends[1]);
}
