// starling: everything a volunteer can tell the daemon, from a terminal.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "client/cli/control_client.h"
#include "client/cli/preferences_text.h"
#include "client/cli/status_text.h"
#include "client/cli/views_text.h"
#include "shared/base/paths.h"
#include "shared/base/version.h"

namespace {

using namespace starling;

// Stable exit codes, also printed by --help.
enum ExitCode { kOk = 0, kRefused = 1, kUsage = 2, kNoDaemon = 3 };

struct Arguments {
  std::filesystem::path data_dir = default_data_dir();
  bool json = false;
  bool follow = false;
  std::string preference;                     // prefs get, set: its name; empty: all
  std::vector<std::string> preference_words;  // prefs set: the value
  wire::ControlRequest request;
};

int fail(const Arguments& arguments, const Error& error, ExitCode code) {
  if (arguments.json) {
    wire::ControlReply refusal;
    refusal.error = error;
    std::fputs(wire::encode_line(refusal).c_str(), stdout);
  }
  std::fprintf(stderr, "starling: %s\n", error.message.c_str());
  return code;
}

void print_preferences(const Arguments& arguments, const wire::Preferences& preferences) {
  const std::string text = arguments.json ? cli::format_preferences_json(preferences)
                           : arguments.preference.empty()
                               ? cli::format_preferences(preferences)
                               : wire::preference_text(preferences, arguments.preference).value() + "\n";
  std::fputs(text.c_str(), stdout);
}

void print_views(const wire::ControlReply& reply) {
  std::string text;
  if (reply.preview.has_value()) text = cli::format_preview(*reply.preview);
  if (reply.leaderboard.has_value()) text = cli::format_leaderboard(*reply.leaderboard);
  if (reply.peers.has_value()) text = cli::format_peers(*reply.peers);
  if (reply.history.has_value()) text = cli::format_history(*reply.history);
  std::fputs(text.c_str(), stdout);
}

void print(const Arguments& arguments, const wire::ControlReply& reply) {
  if (reply.preferences.has_value()) print_preferences(arguments, *reply.preferences);
  if (reply.status.has_value()) {
    const std::string text = arguments.json     ? wire::encode_status(*reply.status)
                             : arguments.follow ? cli::format_status_line(*reply.status) + "\n"
                                                : cli::format_status(*reply.status);
    std::fputs(text.c_str(), stdout);
  }
  if (arguments.json && !reply.status && !reply.preferences) {
    std::fputs(wire::encode_line(reply).c_str(), stdout);
  } else {
    print_views(reply);
  }
  if (!arguments.json && !reply.text.empty()) {
    std::fputs(reply.text.c_str(), stdout);
    if (reply.text.back() != '\n') std::fputc('\n', stdout);
  }
  std::fflush(stdout);
}

ExitCode code_without_reply(const Error& error) { return error.code == ErrorCode::unavailable ? kNoDaemon : kRefused; }

int run(Arguments arguments) {
  if (!arguments.preference.empty()) {  // a name nobody knows is told without a daemon
    if (const auto known = wire::preference_text({}, arguments.preference); !known.ok()) {
      return fail(arguments, known.error(), kRefused);
    }
  }
  auto client = cli::ControlClient::connect(arguments.data_dir);
  if (!client.ok()) return fail(arguments, client.error(), code_without_reply(client.error()));
  while (true) {
    const auto reply = client->call(arguments.request);
    if (!reply.ok()) return fail(arguments, reply.error(), code_without_reply(reply.error()));
    if (reply->error.has_value()) return fail(arguments, *reply->error, kRefused);
    print(arguments, *reply);
    if (!arguments.follow || !reply->status.has_value()) return kOk;
    arguments.request.after_revision = reply->status->revision;
  }
}

void add_pause_commands(CLI::App& app, wire::ControlRequest& request) {
  constexpr const char* kGpu = "The graphics card alone";
  auto* pause = app.add_subcommand("pause", "Stop training until you resume; processor and memory are free at once");
  pause->add_option("--reason", request.reason, "Shown as the reason, e.g. \"gaming\"");
  auto* after = pause->add_flag("--after-round", request.after_round, "Finish the round that is under way first");
  pause->add_flag("--gpu", request.gpu, kGpu)->excludes(after);
  auto* snooze = app.add_subcommand("snooze", "Stop training for a while, over restarts too");
  snooze->add_option("length", request.duration, "15m, 1h, 3h, 8h, 2d, or tomorrow (6:00)")->required();
  snooze->add_option("--reason", request.reason, "Shown as the reason");
  auto* after_snooze = snooze->add_flag("--after-round", request.after_round, "Finish the round first");
  snooze->add_flag("--gpu", request.gpu, kGpu)->excludes(after_snooze);
  auto* resume = app.add_subcommand("resume", "End a pause or a snooze, and say what else is in the way");
  resume->add_flag("--gpu", request.gpu, kGpu);
}

void add_preference_commands(CLI::App& app, Arguments& arguments) {
  auto* prefs = app.add_subcommand("prefs", "When, and how much, this computer may train");
  prefs->require_subcommand(1);
  auto* get = prefs->add_subcommand("get", "Show all settings, or one");
  get->add_option("name", arguments.preference, "As the list of all names it");
  auto* set = prefs->add_subcommand("set", "Change one setting");
  set->add_option("name", arguments.preference, "As `prefs get` names it")->required();
  set->add_option("value", arguments.preference_words, "yes or no, a number, none, or words")->required();
  auto* preset = prefs->add_subcommand("preset", "Use one of the three ready-made mixtures");
  preset->add_option("preset", arguments.request.preset, "gentle, balanced or dedicated")->required();
  for (CLI::App* command : {get, set, preset}) command->fallthrough();
  prefs->fallthrough();
}

void add_view_commands(CLI::App& app, wire::ControlRequest& request) {
  auto* preview = app.add_subcommand("preview", "What a join link leads to, without joining");
  preview->add_option("link", request.link, "starling://host:port/?ca=…&invite=…")->required();
  auto* board = app.add_subcommand("leaderboard", "The project's volunteers, and where you stand");
  board->add_option("--sort", request.sort, "recent, total, run, day or week")
      ->check(CLI::IsMember({"recent", "total", "run", "day", "week"}));
  board->add_option("--search", request.search, "Part of a name");
  board->add_option("--page", request.page, "50 volunteers each")->check(CLI::Range(1, 1000000));
  app.add_subcommand("peers", "The computers of the last averaging");
  auto* history = app.add_subcommand("history", "What this computer has done");
  history->add_option("span", request.span, "rounds (the newest), day, month or all")
      ->check(CLI::IsMember({"rounds", "day", "month", "all"}))
      ->required();
}

void add_commands(CLI::App& app, Arguments& arguments) {
  wire::ControlRequest& request = arguments.request;
  auto* join = app.add_subcommand("join", "Join a project with the link its operator gave you");
  join->add_option("link", request.link, "starling://host:port/?ca=…&invite=…")->required();
  join->add_option("--name", request.name, "Your name on the leaderboard")->required();
  auto* status = app.add_subcommand("status", "What the daemon is doing, and why");
  status->add_flag("--follow", arguments.follow, "Go on, a line for every change, until Ctrl-C");
  add_pause_commands(app, request);
  add_view_commands(app, request);
  add_preference_commands(app, arguments);
  app.add_subcommand("leave", "Leave the project; what was accepted stays credited");
  app.add_subcommand("stop", "End the daemon; nothing is trained until it is started again");
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

// The daemon's word for the command that was given; fills in what `prefs set` changes.
std::string command_of(const CLI::App& app, Arguments& arguments) {
  const CLI::App& given = *app.get_subcommands().front();
  if (given.get_name() == "snooze") return "pause";
  if (given.get_name() != "prefs") return given.get_name();
  if (given.get_subcommands().front()->get_name() == "get") return "preferences";
  if (!arguments.preference_words.empty()) {
    std::string value;
    for (const std::string& word : arguments.preference_words) value += (value.empty() ? "" : " ") + word;
    arguments.request.changes.push_back({arguments.preference, value});
  }
  return "set_preferences";
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  CLI::App app{"starling: gives this computer's idle time to a community's neural network"};
  Arguments arguments;
  app.add_option("--data-dir", arguments.data_dir, "The daemon's data directory")->capture_default_str();
  app.add_flag("--json", arguments.json, "For programs: one JSON object a line, refusals too");
  app.set_version_flag("--version", std::string(kVersion));
  app.require_subcommand(1);
  app.fallthrough();
  add_commands(app, arguments);
  app.footer(
      "Example:\n"
      "  starlingd --data-dir ~/starling &\n"
      "  starling --data-dir ~/starling join 'starling://example.org:7443/?ca=…&invite=…' --name Ada\n"
      "  starling --data-dir ~/starling status --follow\n"
      "  starling --data-dir ~/starling snooze 1h\n\n"
      "Exit codes: 0 done, 1 refused (the reason is on stderr), 2 wrong usage, 3 no daemon is running.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kOk : kUsage;
  }
  arguments.request.command = command_of(app, arguments);
  return run(std::move(arguments));
}
