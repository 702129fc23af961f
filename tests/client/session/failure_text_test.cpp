#include "client/session/failure_text.h"

#include <doctest/doctest.h>

#include "shared/protocol/heartbeat.h"

using namespace starling;
using session::failure_for_others;

TEST_CASE("of a message about tries the failure itself is told, alike at every try") {
  const std::string early =
      "compute a micro-batch: the trainer died 6 times within a minute and is tried again in 49 s; the last time: "
      "start "
      "the trainer: it has no tensor 'labels'";
  CHECK(failure_for_others(early) == "start the trainer: it has no tensor 'labels'");
  CHECK(failure_for_others("out of memory") == "out of memory");
}

TEST_CASE("no folder of a person, and nothing that moves a cursor, is told") {
  CHECK(failure_for_others("open '/home/ada lovelace/.local/share/starling/x.data': No such file") ==
        "open 'x.data': No such file");
  CHECK(failure_for_others("cannot load /opt/ada/lib/libtorch.so: gone (see /tmp/log)") ==
        "cannot load libtorch.so: gone (see log)");
  CHECK(failure_for_others("I/O error at https://mirror.example.org/a/b: 404") ==
        "I/O error at https://mirror.example.org/a/b: 404");
  CHECK(failure_for_others("a\n\x1b[2Jb\x7f") == "a  [2Jb ");
  CHECK(failure_for_others("'/") == "'");
  CHECK(failure_for_others("").empty());
}

TEST_CASE("a long text is cut between two letters") {
  std::string letters;
  while (letters.size() < 1000) letters += "\u00e9";
  for (const char* before : {"", "x"}) {
    const std::string told = failure_for_others(before + letters);
    CHECK(told.size() <= wire::kTrainerFailureBytesMax);
    CHECK(told.size() >= wire::kTrainerFailureBytesMax - 1);
    CHECK(told.ends_with("\u00e9"));
  }
}
