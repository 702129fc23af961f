// starling: all of the daemon's commands, from a terminal.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>

#include "client/cli/commands.h"
#include "client/cli/control_client.h"
#include "client/cli/inquiries.h"
#include "client/cli/password.h"
#include "client/cli/preferences_text.h"
#include "client/cli/status_text.h"
#include "client/cli/views_text.h"
#include "shared/base/clock.h"
#include "shared/base/files.h"
#include "shared/base/log.h"
#include "shared/base/paths.h"
#include "shared/base/plain_text.h"
#include "shared/base/standard_output.h"
#include "shared/base/version.h"
#include "shared/control/self_test_note.h"

namespace {

using namespace starling;
using namespace starling::cli;

int fail(const Arguments& arguments, const Error& error, ExitCode code) {
  if (arguments.json) {
    wire::ControlReply refusal;
    refusal.error = error;
    std::fputs(wire::encode_line(refusal).c_str(), stdout);
  }
  std::fprintf(stderr, "starling: %s\n", plain_lines(error.message).c_str());
  return code;
}

void print_preferences(const Arguments& arguments, const wire::Preferences& preferences) {
  const std::string text = arguments.json ? format_preferences_json(preferences)
                           : arguments.preference.empty()
                               ? format_preferences(preferences)
                               : wire::preference_text(preferences, arguments.preference).value() + "\n";
  std::fputs(text.c_str(), stdout);
}

void print_views(const wire::ControlReply& reply) {
  std::string text;
  if (reply.preview.has_value()) text = format_preview(*reply.preview);
  if (reply.leaderboard.has_value()) text = format_leaderboard(*reply.leaderboard);
  if (reply.remote.has_value()) text = format_remote(*reply.remote);
  if (reply.team.has_value()) text = format_team(*reply.team);
  if (reply.peers.has_value()) text = format_peers(*reply.peers);
  if (reply.projects.has_value()) text = format_projects(*reply.projects);
  if (reply.history.has_value()) text = format_history(*reply.history);
  std::fputs(text.c_str(), stdout);
}

// Rewrites the screen from its top, line by line, so that it does not flicker.
std::string live_view(const wire::DaemonStatus& status) {
  std::string view = "\033[H";
  for (const char c : format_status(status) + "\nCtrl-C ends this view; training goes on.\n") {
    view += c == '\n' ? std::string("\033[K\n") : std::string(1, c);
  }
  return view + "\033[J";
}

void print(const Arguments& arguments, const wire::ControlReply& reply) {
  if (reply.preferences.has_value()) print_preferences(arguments, *reply.preferences);
  if (reply.status.has_value()) {
    const std::string text = arguments.json                                     ? wire::encode_status(*reply.status)
                             : arguments.follow && ::isatty(STDOUT_FILENO) == 1 ? live_view(*reply.status)
                             : arguments.follow ? format_status_line(*reply.status) + "\n"
                                                : format_status(*reply.status);
    std::fputs(text.c_str(), stdout);
  }
  if (arguments.json && !reply.status && !reply.preferences) {
    std::fputs(wire::encode_line(reply).c_str(), stdout);
  } else {
    print_views(reply);
  }
  if (!arguments.json && !reply.text.empty()) {
    std::FILE* where = reply.preferences.has_value() ? stderr : stdout;  // with settings, the text is a warning
    std::fputs(reply.text.c_str(), where);
    if (reply.text.back() != '\n') std::fputc('\n', where);
  }
  std::fflush(stdout);
}

ExitCode code_without_reply(const Error& error) { return error.code == ErrorCode::unavailable ? kNoDaemon : kRefused; }

int run_report(const Arguments& arguments) {
  const std::string report = make_report(arguments);
  if (arguments.out.empty()) {
    std::fputs(report.c_str(), stdout);
    return kOk;
  }
  const Status written = write_where_told(arguments.out, report, {.mode = 0600});
  if (!written.ok()) return fail(arguments, written.error(), kRefused);
  std::printf("Written to '%s'. Read it before you pass it on.\n", arguments.out.c_str());
  return kOk;
}

int run_self_test(const Arguments& arguments) {
  if (!arguments.daemon.empty()) {
    return fail(arguments, {ErrorCode::invalid_argument, "a self-test is of this computer: leave out --daemon"},
                kUsage);
  }
  LogOptions log;
  log.level = LogLevel::error;
  init_logging(log);
  const Diagnosis diagnosis = self_test(arguments, STARLING_TRAINER_FOLDER);
  std::fputs(diagnosis.text.c_str(), stdout);
  if (diagnosis.well && !diagnosis.stopped) {
    const Status noted = wire::note_self_test(arguments.data_dir, SystemClock().wall_now());
    if (!noted.ok() && std::filesystem::exists(arguments.data_dir)) {
      std::fprintf(stderr, "The daemon is not told: %s\n", noted.error().message.c_str());
    }
  }
  return diagnosis.stopped ? kRefused : diagnosis.well ? kOk : kUnwell;
}

int run_doctor(const Arguments& arguments) {
  if (arguments.self_test) return run_self_test(arguments);
  const Diagnosis diagnosis = diagnose(arguments);
  std::fputs(diagnosis.text.c_str(), stdout);
  return diagnosis.well ? kOk : kUnwell;
}

int run_me(const Arguments& arguments) {
  auto client = reach_daemon(arguments);
  if (!client.ok()) return fail(arguments, client.error(), code_without_reply(client.error()));
  const auto text = describe_me(*client, arguments.json);
  if (!text.ok()) return fail(arguments, text.error(), kRefused);
  std::fputs(text->c_str(), stdout);
  return kOk;
}

int run(const Arguments& arguments, wire::ControlRequest request) {
  if (!arguments.preference.empty()) {  // an unknown name is reported without a daemon
    if (const auto known = wire::preference_text({}, arguments.preference); !known.ok()) {
      return fail(arguments, known.error(), kRefused);
    }
  }
  auto client = reach_daemon(arguments);
  if (!client.ok()) return fail(arguments, client.error(), code_without_reply(client.error()));
  while (true) {
    const auto reply = client->call(request);
    if (!reply.ok()) return fail(arguments, reply.error(), code_without_reply(reply.error()));
    if (reply->error.has_value()) return fail(arguments, *reply->error, kRefused);
    print(arguments, *reply);
    if (std::holds_alternative<wire::StopDaemon>(request)) client->wait_for_end();
    if (!arguments.follow || !reply->status.has_value()) return kOk;
    request = wire::GetStatus{reply->status->revision};
  }
}

// Reads the password, if one is to be sent along.
Status add_password(Arguments& arguments) {
  if (!arguments.password_file.empty()) {
    STARLING_ASSIGN(arguments.requests.join.password, read_password(arguments.password_file));
  } else if (arguments.ask_password || !arguments.requests.join.email.empty()) {
    STARLING_ASSIGN(arguments.requests.join.password, ask_password(!arguments.requests.join.email.empty()));
  }
  return {};
}

int run_program(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  CLI::App app{"starling: gives this computer's idle time to a community's neural network"};
  Arguments arguments;
  arguments.data_dir = default_data_dir();
  app.name("starling");
  app.add_option("--data-dir", arguments.data_dir, "The daemon's data directory")->capture_default_str();
  auto* daemon = app.add_option("--daemon", arguments.daemon)
                     ->description("One on another computer, HOST:PORT#FINGERPRINT as starling remote enable tells it");
  auto* token = app.add_option("--token-file", arguments.token_file, "The token of --daemon: a file, or - for input");
  daemon->needs(token);
  token->needs(daemon);
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
      "Exit codes: 0 done, 1 refused (the reason is on stderr), 2 wrong usage, 3 no daemon is running, 4 the doctor "
      "found\n"
      "something wrong.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kOk : kUsage;
  }
  const std::string given = command_given(app);
  if (given == "completion") {
    std::fputs(completion_of(app, arguments.shell).c_str(), stdout);
    return kOk;
  }
  if (given == "doctor") return run_doctor(arguments);
  if (given == "report") return run_report(arguments);
  if (given == "me") return run_me(arguments);
  if (const Status added = add_password(arguments); !added.ok()) return fail(arguments, added.error(), kRefused);
  return run(arguments, request_of(given, arguments));
}

}  // namespace

int main(int argc, char** argv) { return with_output_written("starling", run_program(argc, argv)); }
