#include "client/daemon/daemon_program.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "client/daemon/app.h"
#include "client/trainer_link/program_path.h"
#include "client/updates/child.h"
#include "client/updates/handover.h"
#include "shared/base/log.h"
#include "shared/base/paths.h"
#include "shared/base/service_manager.h"
#include "shared/base/version.h"

namespace starling::daemon {
namespace {

enum ExitCode { kOk = 0, kFailed = 1, kUsage = 2 };

std::filesystem::path own_program() {
  std::error_code problem;
  return std::filesystem::read_symlink("/proc/self/exe", problem);
}

// The request to this program, with the daemon's own options.
struct Call {
  AppOptions options;
  bool verbose = false;
  bool self_check = false;
  std::filesystem::path program;
  std::vector<std::string> arguments;
};

// The signal by which hand_over asks: a newer version lies there complete.
constexpr int kHandOverSignal = SIGUSR1;

// Called before any thread starts, so that every thread leaves these signals to sigwait.
sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, kHandOverSignal}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  return signals;
}

// Called when the daemon has ended. Returns only when neither the new version nor this one can be started.
int become_next(const Call& call, const std::string& version, ServiceManager& manager) {
  manager.leave_to_successor();
  const auto alive = [&manager] {
    manager.alive(SystemClock().now());
    return true;
  };
  const auto installation = updates::Installation::of(call.program);
  Status status = Error{ErrorCode::failed_precondition, "the installation is gone"};
  if (installation.has_value()) status = updates::hand_over(*installation, version, call.arguments, alive);
  log_error("{}; version {} goes on", status.error().message, kVersion);
  flush_logs();
  status = updates::become(call.program, call.arguments);
  log_error("{}", status.error().message);
  return kFailed;
}

// Opens everything once, like a daemon would, and closes it again: the data directory, the control socket, the trainer.
int check_itself(Call call) {
  call.options.control_socket = "self-check.sock";  // nobody's requests belong here
  call.options.remote_door = false;
  const auto trainer = updates::run_child({call.options.run.trainer_program.string(), "--version"},
                                          std::chrono::minutes(1), [] { return true; });
  const Status checked = trainer.ok() ? App::create(call.options).status() : Status(trainer.error());
  if (!checked.ok()) {
    std::fprintf(stderr, "starlingd: %s\n", checked.error().message.c_str());
    return kFailed;
  }
  std::puts(updates::self_check_words(kVersion).c_str());
  return kOk;
}

int run(Call call) {
  const sigset_t signals = block_signals();
  AppOptions& options = call.options;
  std::string next_version;  // written by the control thread before it sends the signal
  options.hand_over = [&next_version](const std::string& version) {
    next_version = version;
    ::kill(::getpid(), kHandOverSignal);
  };

  LogOptions log_options;
  log_options.level = call.verbose ? LogLevel::debug : LogLevel::info;
  if (const Status made = ensure_directory(options.data_dir); !made.ok()) {
    std::fprintf(stderr, "starlingd: %s\n", made.error().message.c_str());
    return kFailed;
  }
  log_options.file = (options.data_dir / "starlingd.log").string();
  init_logging(log_options);
  if (call.self_check) return check_itself(std::move(call));
  if (const auto installation = updates::Installation::of(call.program)) {
    updates::count_start(*installation, call.arguments);
  }
  ServiceManager manager;
  options.alive = [&manager] { manager.alive(SystemClock().now()); };
  auto app = App::create(options);
  if (!app.ok()) {
    log_error("{}", app.error().message);
    return kFailed;
  }
  manager.ready();
  log_info("starlingd {} is ready in '{}'", kVersion, options.data_dir.string());
  int received = 0;
  sigwait(&signals, &received);
  const bool hands_over = received == kHandOverSignal;
  log_info("ending: {}", hands_over ? "a newer version takes over" : received == SIGINT ? "interrupted" : "asked to");
  if (!hands_over) manager.ending();
  app->reset();  // this ends the thread that wrote next_version, too
  flush_logs();
  return hands_over && !next_version.empty() ? become_next(call, next_version, manager) : kOk;
}

}  // namespace

int run_daemon(int argc, char** argv, const DaemonProgram& program) {
  CLI::App cli{"starlingd: gives this computer's idle time to a community's neural network"};
  Call call;
  AppOptions& options = call.options;
  call.program = own_program();
  for (int i = 1; i < argc; ++i) call.arguments.emplace_back(argv[i]);
  options.program = call.program;
  options.update_source = (call.program.parent_path() / program.update_source).lexically_normal();
  options.data_dir = default_data_dir();
  options.run.trainer_program = trainer_link::trainer_program(program.trainer_folder);
  options.run.outgoing = program.outgoing;
  options.stop = [] { ::kill(::getpid(), SIGTERM); };
  cli.add_option("--data-dir", options.data_dir, "Identity, model, data and log live here; one daemon at a time")
      ->capture_default_str();
  cli.add_option("--threads", options.threads, "Processor threads for training, whatever the preferences say")
      ->check(CLI::Range(1, trainer_link::kThreadsMax));
  cli.add_option("--listen", options.run.listen_host, "Address other volunteers may dial; empty: none")
      ->capture_default_str();
  cli.add_option("--port", options.run.listen_port, "Port for other volunteers; 0: any free one")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  double turn_minutes = to_seconds(options.turns.turn) / 60;
  cli.add_option("--turn", turn_minutes, "Minutes for which one of several projects is trained at a stretch")
      ->check(CLI::Range(0.01, 1e5))
      ->capture_default_str();
  cli.add_option("--trainer", options.run.trainer_program, "The program that computes")->capture_default_str();
  cli.add_option("--updates", options.update_source, "File that says where newer versions are; none: nowhere")
      ->capture_default_str();
  cli.add_flag("--verbose", call.verbose, "Log more");
  cli.add_flag(updates::kSelfCheckFlag, call.self_check, "See whether this version works here, say so, and end");
  cli.set_version_flag("--version", std::string(kVersion));
  cli.footer("Control it with the command `starling` and the same --data-dir. Ctrl-C or SIGTERM ends it cleanly.");
  try {
    cli.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return cli.exit(error) == 0 ? kOk : kUsage;
  }
  options.turns.turn = from_seconds(60 * turn_minutes);
  return run(std::move(call));
}

}  // namespace starling::daemon
