// starlingd: the volunteer's daemon.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>

#include "client/daemon/app.h"
#include "shared/base/log.h"
#include "shared/base/paths.h"
#include "shared/base/service_manager.h"
#include "shared/base/version.h"

namespace {

using namespace starling;

enum ExitCode { kOk = 0, kFailed = 1, kUsage = 2 };

// The trainer lies beside this program where both are built, and in a folder of its own, found from here, where both
// are installed: an installation may be moved as a whole.
std::filesystem::path default_trainer() {
  constexpr const char* kName = "starling-trainer";
  std::error_code problem;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", problem);
  if (problem) return kName;
  std::filesystem::path beside = self.parent_path() / kName;
  if (std::filesystem::exists(beside, problem)) return beside;
  return (self.parent_path() / STARLING_TRAINER_FOLDER / kName).lexically_normal();
}

int run(daemon::AppOptions options, bool verbose) {
  // Before any thread starts, so that every thread leaves these signals to sigwait below.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  ServiceManager manager;
  options.alive = [&manager] { manager.alive(SystemClock().now()); };

  LogOptions log_options;
  log_options.level = verbose ? LogLevel::debug : LogLevel::info;
  if (const Status made = ensure_directory(options.data_dir); !made.ok()) {
    std::fprintf(stderr, "starlingd: %s\n", made.error().message.c_str());
    return kFailed;
  }
  log_options.file = (options.data_dir / "starlingd.log").string();
  init_logging(log_options);
  auto app = daemon::App::create(options);
  if (!app.ok()) {
    log_error("{}", app.error().message);
    return kFailed;
  }
  manager.ready();
  log_info("starlingd {} is ready in '{}'", kVersion, options.data_dir.string());
  int received = 0;
  sigwait(&signals, &received);
  log_info("ending: {}", received == SIGINT ? "interrupted" : "asked to");
  manager.ending();
  app->reset();
  flush_logs();
  return kOk;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App cli{"starlingd: gives this computer's idle time to a community's neural network"};
  daemon::AppOptions options;
  options.data_dir = default_data_dir();
  options.run.trainer_program = default_trainer();
  options.stop = [] { ::kill(::getpid(), SIGTERM); };
  bool verbose = false;
  cli.add_option("--data-dir", options.data_dir, "Identity, model, data and log live here; one daemon at a time")
      ->capture_default_str();
  cli.add_option("--threads", options.threads, "Processor threads for training, whatever the preferences say")
      ->check(CLI::Range(1, trainer_link::kThreadsMax));
  cli.add_option("--listen", options.run.listen_host, "Address other volunteers may dial; empty: none")
      ->capture_default_str();
  cli.add_option("--port", options.run.listen_port, "Port for other volunteers; 0: any free one")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  cli.add_option("--trainer", options.run.trainer_program, "The program that computes")->capture_default_str();
  cli.add_flag("--verbose", verbose, "Log more");
  cli.set_version_flag("--version", std::string(kVersion));
  cli.footer("Control it with the command `starling` and the same --data-dir. Ctrl-C or SIGTERM ends it cleanly.");
  try {
    cli.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return cli.exit(error) == 0 ? kOk : kUsage;
  }
  return run(options, verbose);
}
