#include "client/cli/commands.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <utility>

#include "client/cli/completion.h"
#include "shared/base/verify.h"
#include "shared/leaderboard/columns.h"

namespace starling::cli {
namespace {

void add_pause_commands(CLI::App& app, Requests& requests) {
  constexpr const char* kGpu = "The graphics card alone";
  auto* pause = app.add_subcommand("pause", "Stop training until you resume; processor and memory are free at once");
  pause->add_option("--reason", requests.pause.reason, "Shown as the reason, e.g. \"gaming\"");
  auto* after =
      pause->add_flag("--after-round", requests.pause.after_round, "Finish the round that is under way first");
  pause->add_flag("--gpu", requests.pause.gpu, kGpu)->excludes(after);
  auto* snooze = app.add_subcommand("snooze", "Stop training for a while, over restarts too");
  snooze->add_option("length", requests.pause.duration, "15m, 1h, 3h, 8h, 2d, or tomorrow (6:00)")->required();
  snooze->add_option("--reason", requests.pause.reason, "Shown as the reason");
  auto* after_snooze = snooze->add_flag("--after-round", requests.pause.after_round, "Finish the round first");
  snooze->add_flag("--gpu", requests.pause.gpu, kGpu)->excludes(after_snooze);
  auto* resume = app.add_subcommand("resume", "End a pause or a snooze, and say what else is in the way");
  resume->add_flag("--gpu", requests.resume.gpu, kGpu);
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
  preset->add_option("preset", arguments.requests.set_preferences.preset, "How much this computer gives")
      ->required()
      ->check(CLI::IsMember({"gentle", "balanced", "dedicated"}));
  for (CLI::App* command : {get, set, preset}) command->fallthrough();
  prefs->fallthrough();
}

void add_project_commands(CLI::App& app, Requests& requests) {
  constexpr const char* kWhich = "Its name or host:port";
  auto* projects = app.add_subcommand("projects", "The projects this computer has joined; one is trained at a time");
  auto* share = projects->add_subcommand("share", "How much of the time one gets, relative to the others");
  share->add_option("project", requests.share.project, kWhich)->required();
  share
      ->add_option("share", requests.share.share,
                   "1 is what each gets by itself; 0: only where no other can be trained")
      ->required()
      ->check(CLI::Range(0.0, 1000.0));
  auto* train = projects->add_subcommand("train", "Give one its turn now");
  train->add_option("project", requests.train.project, kWhich)->required();
  auto* allow = projects->add_subcommand("allow", "Let one's run be a program of its own, locked in here");
  allow->add_option("project", requests.allow.project, kWhich)->required();
  for (CLI::App* command : {share, train, allow}) command->fallthrough();
  projects->fallthrough();
  projects->require_subcommand(0, 1);
}

// "one, two or three".
std::string any_of(const std::vector<std::string>& words) {
  std::string text = words.front();
  for (std::size_t i = 1; i < words.size(); ++i) text += (i + 1 < words.size() ? ", " : " or ") + words[i];
  return text;
}

void add_view_commands(CLI::App& app, Requests& requests) {
  auto* preview = app.add_subcommand("preview", "What a join link leads to, without joining");
  preview->add_option("link", requests.preview.link, "starling://host:port/?ca=…&invite=…")->required();
  auto* board = app.add_subcommand("leaderboard", "The project's volunteers, and where you stand");
  const std::vector<std::string> sorts = leaderboard::sort_words();
  board->add_option("--sort", requests.leaderboard.sort, any_of(sorts))->check(CLI::IsMember(sorts));
  board->add_option("--search", requests.leaderboard.search, "Part of a name");
  board->add_option("--page", requests.leaderboard.page, "50 volunteers each")->check(CLI::Range(1, 1000000));
  app.add_subcommand("me", "How you stand: rank, credit and accepted samples");
  app.add_subcommand("peers", "The computers of the last averaging");
  auto* history = app.add_subcommand("history", "What this computer has done");
  history->add_option("span", requests.history.span, "rounds (the newest), day, month or all")
      ->check(CLI::IsMember({"rounds", "day", "month", "all"}))
      ->required();
}

// A command with commands below it; the name of the one that is given is stored in `word`, for the request to the
// daemon.
class CommandGroup {
 public:
  CommandGroup(CLI::App& app, const char* name, const char* help, std::string& word)
      : above_(app.add_subcommand(name, help)), word_(word) {
    above_->require_subcommand(1);
    above_->fallthrough();
  }
  CLI::App* add(const char* name, const char* help) {
    auto* command = above_->add_subcommand(name, help);
    command->fallthrough();
    command->callback([&word = word_, name] { word = name; });
    return command;
  }

 private:
  CLI::App* above_;
  std::string& word_;
};

void add_team_commands(CLI::App& app, Requests& requests) {
  constexpr const char* kName = "The team's name";
  CommandGroup team(app, "team", "Volunteers who count together; what you earn stays with your team",
                    requests.team.action);
  team.add("show", "Yours, and how it stands");
  team.add("join", "Join one, and leave the one before")->add_option("team", requests.team.name, kName)->required();
  team.add("found", "Found one, as its first member")->add_option("team", requests.team.name, kName)->required();
  team.add("leave", "Be in none");
}

void add_remote_commands(CLI::App& app, Requests& requests) {
  CommandGroup remote(app, "remote", "Control this daemon from another computer, over TLS with a token",
                      requests.remote.action);
  auto* enable = remote.add("enable", "Let it, with a new token; one that was made before counts no longer");
  enable
      ->add_option("--listen", requests.remote.listen, "IP address of this computer that others may call; 0.0.0.0: all")
      ->capture_default_str();
  enable->add_option("--port", requests.remote.port, "0: any free one")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  remote.add("show", "Whether, where, and what to type there");
  remote.add("disable", "Let it no longer");
}

void add_join_command(CLI::App& app, Arguments& arguments) {
  wire::JoinProject& request = arguments.requests.join;
  auto* join = app.add_subcommand("join", "Join a project with the link its operator gave you");
  join->add_option("link", request.link, "starling://host:port/?ca=…&invite=…")->required();
  join->add_option("--name", request.name)
      ->description("Your name on the leaderboard; with a password, the name or e-mail address of your account");
  auto* password = join->add_flag("--password", arguments.ask_password,
                                  "Log in to your account, or make one: the password is asked for here");
  join->add_option("--password-file", arguments.password_file,
                   "The same, with the first line of a file, or - for input")
      ->excludes(password);
  join->add_option("--email", request.email)
      ->description("Of a new account, for the day on which you forget its password; asks for one");
}

// Adds facts that CLI11's tree lacks: which arguments are paths, and the most common values of those without a closed
// list.
void add_values(Command& command) {
  for (Command& below : command.commands) add_values(below);
  for (CommandOption& option : command.options) {
    constexpr std::array<std::string_view, 4> kPaths = {"--data-dir", "--out", "--password-file", "--token-file"};
    option.is_path =
        option.names.size() == 1 && std::find(kPaths.begin(), kPaths.end(), option.names.front()) != kPaths.end();
    if (option.place == "length") option.values = {"15m", "1h", "3h", "8h", "tomorrow"};
    if (option.place != "name") continue;
    for (const wire::PreferenceInfo& info : wire::preference_infos()) option.values.emplace_back(info.name);
  }
}

}  // namespace

void add_commands(CLI::App& app, Arguments& arguments) {
  Requests& requests = arguments.requests;
  add_join_command(app, arguments);
  auto* status = app.add_subcommand("status", "What the daemon is doing, why, and which device computes");
  status->add_flag("--follow", arguments.follow,
                   "Go on until Ctrl-C: a live view, or a line for every change where no terminal shows it");
  add_team_commands(app, requests);
  add_remote_commands(app, requests);
  add_pause_commands(app, requests);
  add_view_commands(app, requests);
  add_preference_commands(app, arguments);
  auto* update = app.add_subcommand("update", "Look now for a newer version of Starling");
  update->add_flag("--install", requests.update.install, "And install it, at the end of the round");
  auto* leave = app.add_subcommand("leave", "Leave a project; what was accepted stays credited");
  leave->add_option("project", requests.leave.project, "Its name or host:port, where several were joined");
  add_project_commands(app, requests);
  app.add_subcommand("stop", "End the daemon, and wait until it has; nothing is trained until it is started again");
  auto* doctor =
      app.add_subcommand("doctor", "Whether something is wrong here, and what to do about it; exit code 4 if so");
  auto* self_test = doctor->add_flag("--self-test", arguments.self_test,
                                     "Compute something with a known answer, and look at memory, instead");
  doctor->add_option("--seconds", arguments.self_test_seconds, "With --self-test: how long to compute")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str()
      ->needs(self_test);
  doctor
      ->add_flag("--progress", arguments.progress,
                 "With --self-test: write how far it is to stderr, line by line, where that is no terminal, too")
      ->needs(self_test);
  auto* report = app.add_subcommand("report", "What helps others to find out what is wrong; nothing private is in it");
  report->add_option("--out", arguments.out, "Write it there; otherwise it is shown, to be read first");
  auto* completion = app.add_subcommand("completion", "A script that makes a shell complete these commands");
  completion->add_option("shell", arguments.shell, "Which shell")
      ->required()
      ->check(CLI::IsMember(completion_shells()));
  auto* log = app.add_subcommand("log", "The daemon's newest log lines");
  log->add_option("--lines", requests.log.lines, "How many")->check(CLI::Range(1, 10000))->capture_default_str();
  auto* sample = app.add_subcommand("sample", "Let the model, as it stands here, continue a text");
  sample->add_option("--prompt", requests.sample.prompt, "Text to continue");
  sample
      ->add_option("--length", requests.sample.length,
                   "Words to write: bytes, or tokens where the run learns from those")
      ->check(CLI::Range(1, wire::kSampleBytesMax))
      ->capture_default_str();
  sample
      ->add_option("--temperature", requests.sample.temperature, "0: always the likeliest word; 1: as the model thinks")
      ->check(CLI::Range(0.0, 10.0))
      ->capture_default_str();
}

std::string command_given(const CLI::App& app) {
  std::string path;
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    path += (path.empty() ? "" : " ") + at->get_name();
  }
  return path;
}

wire::ControlRequest request_of(const std::string& given, const Arguments& arguments) {
  const Requests& requests = arguments.requests;
  if (given == "join") return requests.join;
  if (given == "leave") return requests.leave;
  if (given == "projects") return wire::ListProjects{};
  if (given == "projects share") return requests.share;
  if (given == "projects train") return requests.train;
  if (given == "projects allow") return requests.allow;
  if (given == "stop") return wire::StopDaemon{};
  if (given == "pause" || given == "snooze") return requests.pause;
  if (given == "resume") return requests.resume;
  if (given == "prefs get") return wire::GetPreferences{};
  if (given == "prefs preset") return requests.set_preferences;
  if (given == "sample") return requests.sample;
  if (given == "update") return requests.update;
  if (given == "log") return requests.log;
  if (given == "preview") return requests.preview;
  if (given == "history") return requests.history;
  if (given == "peers") return wire::GetPeers{};
  if (given == "leaderboard") return requests.leaderboard;
  if (given.starts_with("team ")) return requests.team;
  if (given.starts_with("remote ")) return requests.remote;
  if (given == "prefs set") {
    std::string value;
    for (const std::string& word : arguments.preference_words) value += (value.empty() ? "" : " ") + word;
    return wire::SetPreferences{{}, {{arguments.preference, value}}};
  }
  VERIFY(given == "status");
  return wire::GetStatus{};
}

std::string completion_of(const CLI::App& app, std::string_view shell) {
  Command tree = command_tree(app);
  add_values(tree);
  return completion_script(shell, tree);
}

}  // namespace starling::cli
