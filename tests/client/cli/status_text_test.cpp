#include "client/cli/status_text.h"

#include <doctest/doctest.h>

#include <limits>

using namespace starling;

TEST_CASE("a daemon that does not train says why and what ends it") {
  wire::DaemonStatus status;
  status.phase = "waiting";
  status.reason = "the operator paused the run";
  status.ends_when = "the operator starts it again";
  CHECK(cli::format_status(status) == "Waiting: the operator paused the run (until the operator starts it again)\n");
}

TEST_CASE("a training daemon shows round, swarm and credit") {
  wire::DaemonStatus status;
  status.phase = "training";
  status.project = "Birds";
  status.samples_accumulated = 48;
  status.target_batch_size = 96;
  status.swarm_size = 3;
  const std::string text = cli::format_status(status);
  CHECK(text.find("Training") == 0);
  CHECK(text.find("[##########..........] 48 of 96") != std::string::npos);
  CHECK(text.find("3 members") != std::string::npos);
}

TEST_CASE("what is wrong with this computer is shown, one line each") {
  wire::DaemonStatus status;
  status.phase = "training";
  status.problems = {"'a.safetensors' is damaged", "the disk is full"};
  CHECK(cli::format_status(status) ==
        "Training\n  problem    'a.safetensors' is damaged\n  problem    the disk is full\n");
}

TEST_CASE("a progress bar stays inside its frame") {
  CHECK(cli::progress_bar(-1, 4) == "[....]");
  CHECK(cli::progress_bar(0.5, 4) == "[##..]");
  CHECK(cli::progress_bar(7, 4) == "[####]");
  CHECK(cli::progress_bar(std::numeric_limits<double>::quiet_NaN(), 4) == "[....]");
}
