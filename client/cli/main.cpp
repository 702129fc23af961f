// starling: everything a volunteer can tell the daemon, from a terminal.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "client/cli/control_client.h"
#include "client/cli/status_text.h"
#include "shared/base/paths.h"

namespace {

using namespace starling;

// Stable exit codes, also printed by --help.
enum ExitCode { kOk = 0, kRefused = 1, kUsage = 2, kNoDaemon = 3 };

struct Arguments {
  std::filesystem::path data_dir = default_data_dir();
  bool json = false;
  bool follow = false;
  wire::ControlRequest request;
};

int fail(const Error& error) {
  std::fprintf(stderr, "starling: %s\n", error.message.c_str());
  return error.code == ErrorCode::unavailable ? kNoDaemon : kRefused;
}

void print(const Arguments& arguments, const wire::ControlReply& reply) {
  if (reply.status.has_value()) {
    const std::string text = arguments.json     ? wire::encode_status(*reply.status)
                             : arguments.follow ? cli::format_status_line(*reply.status) + "\n"
                                                : cli::format_status(*reply.status);
    std::fputs(text.c_str(), stdout);
  }
  if (!reply.text.empty()) {
    std::fputs(reply.text.c_str(), stdout);
    if (reply.text.back() != '\n') std::fputc('\n', stdout);
  }
  std::fflush(stdout);
}

int run(Arguments arguments) {
  auto client = cli::ControlClient::connect(arguments.data_dir);
  if (!client.ok()) return fail(client.error());
  while (true) {
    const auto reply = client->call(arguments.request);
    if (!reply.ok()) return fail(reply.error());
    print(arguments, *reply);
    if (!arguments.follow || !reply->status.has_value()) return kOk;
    arguments.request.after_revision = reply->status->revision;
  }
}

void add_commands(CLI::App& app, Arguments& arguments) {
  wire::ControlRequest& request = arguments.request;
  auto* join = app.add_subcommand("join", "Join a project with the link its operator gave you");
  join->add_option("link", request.link, "starling://host:port/?ca=…&invite=…")->required();
  join->add_option("--name", request.name, "Your name on the leaderboard")->required();
  auto* status = app.add_subcommand("status", "What the daemon is doing, and why");
  status->add_flag("--json", arguments.json, "One JSON object a line, for programs");
  status->add_flag("--follow", arguments.follow, "Go on, a line for every change, until Ctrl-C");
  auto* pause = app.add_subcommand("pause", "Stop computing; a round under way is finished first");
  pause->add_option("--reason", request.reason, "Shown as the reason, e.g. \"gaming\"");
  app.add_subcommand("resume", "Compute again");
  app.add_subcommand("leave", "Leave the project; what was accepted stays credited");
  auto* log = app.add_subcommand("log", "The daemon's newest log lines");
  log->add_option("--lines", request.lines, "How many")->check(CLI::Range(1, 10000))->capture_default_str();
  auto* sample = app.add_subcommand("sample", "Let the model, as it stands here, continue a text");
  sample->add_option("--prompt", request.prompt, "Text to continue");
  sample->add_option("--length", request.length, "Bytes to write")
      ->check(CLI::Range(1, wire::kSampleBytesMax))
      ->capture_default_str();
  sample->add_option("--temperature", request.temperature, "0: always the likeliest byte; 1: as the model thinks")
      ->check(CLI::Range(0.0, 10.0))
      ->capture_default_str();
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  CLI::App app{"starling: gives this computer's idle time to a community's neural network"};
  Arguments arguments;
  app.add_option("--data-dir", arguments.data_dir, "The daemon's data directory")->capture_default_str();
  app.require_subcommand(1);
  add_commands(app, arguments);
  app.footer(
      "Example:\n"
      "  starlingd --data-dir ~/starling &\n"
      "  starling --data-dir ~/starling join 'starling://example.org:7443/?ca=…&invite=…' --name Ada\n"
      "  starling --data-dir ~/starling status --follow\n\n"
      "Exit codes: 0 done, 1 refused (the reason is on stderr), 2 wrong usage, 3 no daemon is running.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kOk : kUsage;
  }
  arguments.request.command = app.get_subcommands().front()->get_name();
  return run(std::move(arguments));
}
