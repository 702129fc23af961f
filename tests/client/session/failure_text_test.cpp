#include "client/session/failure_text.h"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

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
  CHECK(failure_for_others("a\n\x1b[2Jb\x7f") == "a ?[2Jb?");
  CHECK(failure_for_others("'/") == "'");
  CHECK(failure_for_others("").empty());
}

TEST_CASE("no part of a path is left, whatever signs its folders have, and however it is written") {
  CHECK(failure_for_others("open '/home/o'neil/x.data': No such file") == "open 'x.data': No such file");
  CHECK(failure_for_others("open '/home/it's ada's/x.data': gone, see '/tmp/a b/log'") ==
        "open 'x.data': gone, see 'log'");
  CHECK(failure_for_others("open '/home/o'neil/x") == "open 'x");
  CHECK(failure_for_others("open \"/home/a \"b\" c/x\": gone") == "open \"x\": gone");
  CHECK(failure_for_others("cannot load /home/Ada Lovelace/x: gone") == "cannot load x: gone");
  CHECK(failure_for_others("cannot load /home/Ada King Lovelace/x.so") == "cannot load x.so");
  CHECK(failure_for_others("/home/ada (work)/x is gone") == "x is gone");
  CHECK(failure_for_others("/home/ada (work)") == "ada (work)");
  CHECK(failure_for_others("/home/a:b/c,d/e;f/x: gone") == "x: gone");
  CHECK(failure_for_others("see file:///home/ada/x, and FILE [/home/ada/y]") == "see file:x, and FILE [y]");
  CHECK(failure_for_others("{/home/ada/x} </home/ada/y> |/home/ada/z> a:/home/ada/w") == "{x} <y> |z> a:w");
  CHECK(failure_for_others("~/secret/x ~ada/secret/y ./secret/z ../secret/w") == "x y z w");
  CHECK(failure_for_others("from /home/ada/x to /home/ada/y") == "from x to y");
  CHECK(failure_for_others("'/home/ada/x': I/O error, 'y'") == "'x': I/O error, 'y'");
  CHECK(failure_for_others("see /home/ada/x https://h.example/a/b") == "see x https://h.example/a/b");
  CHECK(failure_for_others("3 / 4 of it, 5 kB/s") == "3 / 4 of it, 5 kB/s");
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

TEST_CASE("a library's endless text takes no longer than a short one") {
  constexpr std::size_t kBytes = 64 << 10;
  const auto begun = std::chrono::steady_clock::now();
  for (const char sign : {'(', '~', '\'', '/', ' '}) {
    CHECK(failure_for_others(std::string(kBytes, sign)).size() <= wire::kTrainerFailureBytesMax);
  }
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(1));
  CHECK(failure_for_others("open /home/ada/x: " + std::string(kBytes, '(')).starts_with("open x: (("));
}
