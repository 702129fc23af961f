// The commands that `starling` accepts, in one tree that parsing, help and completion share.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "shared/control/control.h"

namespace CLI {
class App;
}  // namespace CLI

namespace starling::cli {

// Stable exit codes; --help prints them.
enum ExitCode { kOk = 0, kRefused = 1, kUsage = 2, kNoDaemon = 3, kUnwell = 4 };

// The requests whose fields the command line fills in.
struct Requests {
  wire::JoinProject join;
  wire::ShareProject share;
  wire::TrainProject train;
  wire::AllowProject allow;
  wire::LeaveProject leave;
  wire::Pause pause;  // snooze, too
  wire::Resume resume;
  wire::SetPreferences set_preferences;
  wire::SampleText sample;
  wire::LookForUpdate update;
  wire::GetLog log;
  wire::PreviewProject preview;
  wire::GetHistory history;
  wire::ArrangeTeam team;
  wire::GetLeaderboard leaderboard;
  wire::ArrangeRemote remote;
};

// The parsed command line.
struct Arguments {
  std::filesystem::path data_dir;
  std::string daemon;                // daemon on another computer: HOST:PORT#FINGERPRINT; empty: the one of data_dir
  std::filesystem::path token_file;  // used with daemon: the file's first line is the token; "-" is standard input
  bool json = false;
  bool follow = false;
  bool self_test = false;                     // doctor
  int self_test_seconds = 20;                 // doctor: for so long it computes
  bool progress = false;                      // doctor: how far the self-test is, though nobody sees a terminal
  std::filesystem::path out;                  // report: file to write; empty: print it
  std::string shell;                          // completion: bash, zsh or fish
  std::string preference;                     // prefs get, set: name of the preference; empty: all
  std::vector<std::string> preference_words;  // prefs set: the value
  std::filesystem::path password_file;        // join: "-" is standard input
  bool ask_password = false;                  // join: at the terminal
  Requests requests;
};

// `arguments` outlives `app` and is filled in when that parses.
void add_commands(CLI::App& app, Arguments& arguments);
// The command that was given, after parsing: "status", "prefs set".
std::string command_given(const CLI::App& app);
// The request to the daemon of that command, which is one that the daemon answers.
wire::ControlRequest request_of(const std::string& given, const Arguments& arguments);
// The script that `starling completion` prints.
std::string completion_of(const CLI::App& app, std::string_view shell);

}  // namespace starling::cli
