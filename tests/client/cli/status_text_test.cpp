#include "client/cli/status_text.h"

#include <doctest/doctest.h>

#include <limits>

using namespace starling;

TEST_CASE("a daemon that does not train says why and what ends it") {
  wire::DaemonStatus status;
  status.phase = wire::DaemonPhase::waiting;
  status.reason = "the operator paused the run";
  status.ends_when = "the operator starts it again";
  CHECK(cli::format_status(status) == "Waiting: the operator paused the run (until the operator starts it again)\n");
}

TEST_CASE("a training daemon shows round, swarm and credit") {
  wire::DaemonStatus status;
  status.phase = wire::DaemonPhase::training;
  status.membership.project = "Birds";
  status.swarm.samples_accumulated = 48;
  status.swarm.target_batch_size = 96;
  status.swarm.size = 3;
  const std::string text = cli::format_status(status);
  CHECK(text.find("Training") == 0);
  CHECK(text.find("[##########..........] 48 of 96") != std::string::npos);
  CHECK(text.find("3 members") != std::string::npos);
}

TEST_CASE("what is wrong with this computer is shown, one line each") {
  wire::DaemonStatus status;
  status.phase = wire::DaemonPhase::training;
  status.problems = {"'a.safetensors' is damaged", "the disk is full"};
  CHECK(cli::format_status(status) ==
        "Training\n  problem    'a.safetensors' is damaged\n  problem    the disk is full\n");
}

TEST_CASE("a volunteer sees how much of a shared model is here, and that others use it") {
  wire::DaemonStatus status;
  status.phase = wire::DaemonPhase::training;
  status.membership.project = "gutenberg";
  CHECK(cli::format_status(status).find("experts") == std::string::npos);
  status.cells = wire::CellsStatus{8, {{2, 1, 4, {10, 20}}, {3, 1, 6, {0, 5}}}, 77};
  CHECK(cli::format_status(status).find("  experts    2 of 8 parts of the model are here; 77 calls answered\n") !=
        std::string::npos);
  status.cells->trunk_here = false;
  CHECK(cli::format_status(status).find("parts of the model are here, and no more of it, for lack of memory; 77") !=
        std::string::npos);
}

TEST_CASE("a volunteer sees that its work was checked, and what was found") {
  wire::DaemonStatus status;
  status.phase = wire::DaemonPhase::training;
  status.membership.project = "gutenberg";
  const auto line = [&](const wire::CheckedWork& checked) {
    status.checked = checked;
    const std::string text = cli::format_status(status);
    const auto at = text.find("  checked    ");
    REQUIRE(at != std::string::npos);
    return text.substr(at + 13, text.find('\n', at) - at - 13);
  };
  CHECK(cli::format_status(status).find("checked") == std::string::npos);
  CHECK(line({}) == "not yet: others compute some of its work once more");
  CHECK(line({1, 0, 0, {}}) == "1 time, all right");
  CHECK(line({41, 0, 960, {}}) == "41 times, all right; credit of 960 samples is pending");
  CHECK(line({41, 2, 0, {}}) == "43 times, 2 of them not right");
}

TEST_CASE("a newer version is told, and what to do where the run needs it") {
  wire::DaemonStatus status;
  status.phase = wire::DaemonPhase::preparing;
  status.update = {"available", "Starling 1.2 is out: starling update --install", "1.2", "Faster.", "", "1.1", true,
                   {}};
  CHECK(cli::format_status(status) ==
        "Preparing\n  to do      update Starling to 1.1 or newer: starling update --install\n"
        "  update     Starling 1.2 is out: starling update --install\n             New: Faster.\n");
  status.update.can_install = false;
  CHECK(cli::format_status(status).find("to do      update Starling to 1.1 or newer\n") != std::string::npos);
  status.update = {"current", "Starling 1.2 is the newest version", "", "", "", "", true, {}};
  CHECK(cli::format_status(status) == "Preparing\n");
}

TEST_CASE("a progress bar stays inside its frame") {
  CHECK(cli::progress_bar(-1, 4) == "[....]");
  CHECK(cli::progress_bar(0.5, 4) == "[##..]");
  CHECK(cli::progress_bar(7, 4) == "[####]");
  CHECK(cli::progress_bar(std::numeric_limits<double>::quiet_NaN(), 4) == "[....]");
}

TEST_CASE("a rule that keeps from training comes with the command that changes it") {
  wire::DaemonStatus status;
  status.phase = wire::DaemonPhase::paused;
  status.reason = "the computer runs on battery";
  status.ends_when = "it is plugged in";
  status.rules.action = "plug it in, or train on battery too";
  status.rules.action_command = "prefs set on_battery yes";
  status.rules.pause_after_round = true;
  CHECK(cli::format_status(status) ==
        "Paused: the computer runs on battery (until it is plugged in)\n"
        "  to do      plug it in, or train on battery too: starling prefs set on_battery yes\n"
        "  wish       pausing after this round\n");
}

TEST_CASE("limits, data and blind spots are shown") {
  wire::DaemonStatus status;
  status.membership.project = "Birds";
  status.rules.threads = 1;
  status.rules.memory_bytes = 2'000'000'000;
  status.rules.gpu_present = true;
  status.rules.gpu = false;
  status.rules.gpu_reason = "somebody uses the computer";
  status.rules.month_bytes = 1'500'000'000;
  status.rules.month_bytes_max = 5'000'000'000;
  status.rules.month_bytes_forecast = 4'000'000'000;
  status.rules.unknown = {"idle time", "full screen"};
  const std::string text = cli::format_status(status);
  CHECK(text.find("1 processor thread, 2.0 GB memory\n") != std::string::npos);
  CHECK(text.find("  card       not used: somebody uses the computer\n") != std::string::npos);
  status.rules.gpu_present = false;
  CHECK(cli::format_status(status).find("  card") == std::string::npos);
  CHECK(text.find("1.5 GB this month of 5.0 GB, about 4.0 GB by its end\n") != std::string::npos);
  CHECK(text.find("idle time, full screen: no sensor tells here") != std::string::npos);
}

TEST_CASE("what computes is shown once the trainer has said it, with why a card does not") {
  wire::DaemonStatus status;
  status.membership.project = "Birds";
  CHECK(cli::format_status(status).find("  device     not known yet: the trainer has not started\n") !=
        std::string::npos);
  status.computing.device = {.kind = "cpu",
                             .name = "AMD EPYC",
                             .memory_bytes = 16'000'000'000,
                             .memory_max_bytes = 8'000'000'000,
                             .backend = "LibTorch 1.13.1 without CUDA",
                             .precision = "fp32",
                             .card_unused = "this LibTorch is built without CUDA"};
  const std::string text = cli::format_status(status);
  CHECK(text.find("  device     AMD EPYC, at most 8.0 of 16.0 GB memory, fp32, LibTorch 1.13.1 without CUDA\n") !=
        std::string::npos);
  CHECK(text.find("  card       not used: this LibTorch is built without CUDA\n") != std::string::npos);
}
