// The parts of a handover that return. The tests in tests/e2e use real daemons to show that a daemon becomes the next
// one.
#include "client/updates/handover.h"

#include <doctest/doctest.h>

#include "tests/client/updates/played_installation.h"

using namespace starling;
using namespace starling::updates;
using starling::testing::PlayedInstallation;
using starling::testing::working_daemon;

namespace {

void check_refused(const std::string& daemon, const std::string& words) {
  const PlayedInstallation played("1.0.0");
  played.add_version("1.1.0", daemon);
  const Installation installation = played.open("1.0.0");
  const Status status = hand_over(installation, "1.1.0", {"--data-dir", "/nowhere"}, [] { return true; });
  REQUIRE(!status.ok());
  CHECK_MESSAGE(status.error().message.find(words) != std::string::npos, status.error().message);
  CHECK(played.current() == "versions/1.0.0");
  CHECK(installation.failed() == std::vector<std::string>{"1.1.0"});
  CHECK(!installation.trial().has_value());
}

}  // namespace

TEST_CASE("a version that fails its self-check is never switched to") {
  check_refused(working_daemon("1.1.0", 1), "it failed (1)");
  check_refused("#!/bin/sh\necho 'libtorch.so: cannot open shared object file'\nexit 127\n", "libtorch.so");
  check_refused("#!/bin/sh\nkill -SEGV $$\n", "it was ended by");
  check_refused("#!/nonexistent/interpreter\n", "No such file");
}

TEST_CASE("a version that says it is another one is never switched to") {
  check_refused(working_daemon("1.0.9"), "does not say that it is version 1.1.0");
}

TEST_CASE("a version that passes and cannot be started is left again") {
  // Removes itself at the end of its self-check.
  check_refused("#!/bin/sh\necho '" + self_check_words("1.1.0") + "'\nrm \"$0\"\n", "No such file");
}

TEST_CASE("starts of a version on trial are counted, others are not") {
  const PlayedInstallation played("1.0.0");
  const Installation installation = played.open("1.0.0");
  count_start(installation, {});
  CHECK(!installation.trial().has_value());
  REQUIRE(installation.save_trial({"1.0.0", "0.9.0", 0}).ok());
  for (int start = 1; start <= kTrialStartsMax; ++start) {
    count_start(installation, {});
    CHECK(installation.trial()->starts == start);
  }
  // One start too many, and version 0.9.0 cannot be started: the call returns, and `current` leads back all the same.
  count_start(installation, {});
  CHECK(played.current() == "versions/0.9.0");
  CHECK(installation.failed() == std::vector<std::string>{"1.0.0"});
}
