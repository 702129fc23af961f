#include "client/cli/inquiries.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <system_error>
#include <utility>

#include "client/cli/doctor.h"
#include "client/cli/doctor_self_test.h"
#include "client/cli/password.h"
#include "client/cli/preferences_text.h"
#include "client/cli/redaction.h"
#include "client/cli/status_text.h"
#include "client/cli/views_text.h"
#include "client/trainer_link/program_path.h"
#include "client/trainer_link/trainer_process.h"
#include "shared/base/files.h"
#include "shared/base/machine_limits.h"
#include "shared/base/plain_text.h"
#include "shared/base/version.h"
#include "shared/leaderboard/columns.h"
#include "shared/wire/json_writer.h"

namespace starling::cli {
namespace {

constexpr std::size_t kLogBytesMax = 16 * 1024 * 1024;
constexpr std::size_t kLogBytesShown = 128 * 1024;
constexpr int kLogLinesAsked = 1000;
constexpr std::size_t kSystemFileBytesMax = 64 * 1024;
constexpr std::int64_t kTestedMemoryMax = std::int64_t{4} << 30;  // looked at in a few seconds

Result<wire::ControlReply> ask(ControlClient& daemon, const wire::ControlRequest& request) {
  auto reply = daemon.call(request);
  if (reply.ok() && reply->error.has_value()) return *reply->error;
  return reply;
}

// Reads the file, because there may be no daemon to ask.
std::string newest_log(const std::filesystem::path& data_dir) {
  auto log = read_file(data_dir / "starlingd.log", kLogBytesMax);
  if (!log.ok()) return log.error().message + "\n";
  if (log->size() <= kLogBytesShown) return *log;
  return log->substr(log->find('\n', log->size() - kLogBytesShown) + 1);
}

void ask_daemon(const Arguments& arguments, Facts& facts) {
  auto daemon = reach_daemon(arguments);
  auto status = daemon.ok() ? ask(*daemon, wire::GetStatus{}) : Result<wire::ControlReply>(daemon.error());
  if (!status.ok()) {
    facts.no_daemon = status.error();
    return;
  }
  facts.status = status->status.value_or(wire::DaemonStatus());
  auto preferences = ask(*daemon, wire::GetPreferences{});
  if (preferences.ok() && preferences->preferences) facts.preferences = *preferences->preferences;
  if (arguments.daemon.empty()) return;
  const auto log = daemon->call(wire::GetLog{kLogLinesAsked});
  facts.log = !log.ok() ? log.error().message : log->error ? log->error->message : log->text;
}

std::string proxy_variable() {
  for (const char* name : {"https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return name;
  }
  return "";
}

Facts gather(const Arguments& arguments) {
  Facts facts;
  const std::filesystem::path& data_dir = arguments.data_dir;
  facts.data_dir = arguments.daemon.empty() ? data_dir.string() : arguments.daemon;
  facts.own_version = kVersion;
  facts.proxy_variable = proxy_variable();
  ask_daemon(arguments, facts);
  if (!arguments.daemon.empty()) return facts;  // the other computer's folder cannot be read
  struct stat about {};
  facts.others_may_look = ::stat(data_dir.c_str(), &about) == 0 && (about.st_mode & 077U) != 0;
  std::error_code problem;
  const auto room = std::filesystem::space(data_dir, problem);
  if (!problem) facts.disk_free_bytes = static_cast<std::int64_t>(room.available);
  facts.log = newest_log(data_dir);
  return facts;
}

// Memory that could be used without taking any from other programs.
std::int64_t memory_free_bytes() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    long long kilobytes = 0;
    if (std::sscanf(line.c_str(), "MemAvailable: %lld kB", &kilobytes) == 1) return kilobytes * 1024;
  }
  return 0;
}

wire::ComputeLimits limits_wished(const std::filesystem::path& data_dir) {
  const auto file = read_file(data_dir / "preferences.json", kSystemFileBytesMax);
  if (!file.ok()) return {};
  const auto wished = wire::decode_preferences(*file);
  return wished.ok() ? wished->limits : wire::ComputeLimits();
}

Finding computing_of(trainer_link::TrainerProcessOptions run, const SelfTestOptions& options) {
  auto trainer = trainer_link::TrainerProcess::create(std::move(run));
  if (!trainer.ok()) return {Health::bad, "trainer", trainer.error().message, ""};
  return check_computing(**trainer, SystemClock(), options);
}

volatile std::sig_atomic_t was_interrupted = 0;

std::string system_text() {
  utsname system{};
  ::uname(&system);
  const auto release = read_file("/etc/os-release", kSystemFileBytesMax);
  std::string text = fmt::format("{} {} {}, {} processor threads\n", system.sysname, system.release, system.machine,
                                 processors_allowed());
  return text + (release.ok() ? release->substr(0, release->find('\n')) + "\n" : "");
}

std::string me_json(const wire::DaemonStatus& status, const wire::StandingView& me) {
  using leaderboard::Board;
  using leaderboard::Unit;
  wire::JsonWriter out;
  out.open("", '{');
  out.text("project", status.membership.project);
  out.text("name", status.membership.display_name);
  out.text("computer", status.membership.peer.hex());
  out.integer("rank", me.rank);
  out.number("credit", me.figures.of(Board::total, Unit::credit));
  out.number("recent_average", me.figures.of(Board::recent, Unit::credit_per_day));
  out.integer("samples", static_cast<std::int64_t>(me.figures.of(Board::total, Unit::samples)));
  out.integer("day_samples", static_cast<std::int64_t>(me.figures.of(Board::day, Unit::samples)));
  out.integer("week_samples", static_cast<std::int64_t>(me.figures.of(Board::week, Unit::samples)));
  out.close('}');
  return out.str() + "\n";
}

}  // namespace

Result<ControlClient> reach_daemon(const Arguments& arguments) {
  if (arguments.daemon.empty()) return ControlClient::connect(arguments.data_dir);
  STARLING_ASSIGN(const std::string token, read_password(arguments.token_file));
  return ControlClient::connect_remote(arguments.daemon, token);
}

Result<std::string> describe_me(ControlClient& daemon, bool json) {
  STARLING_ASSIGN(const wire::ControlReply status_reply, ask(daemon, wire::GetStatus{}));
  STARLING_ASSIGN(const wire::ControlReply board_reply, ask(daemon, wire::GetLeaderboard{}));
  const wire::DaemonStatus status = status_reply.status.value_or(wire::DaemonStatus());
  const wire::LeaderboardView board = board_reply.leaderboard.value_or(wire::LeaderboardView());
  const wire::StandingView me = board.pinned.value_or(wire::StandingView());
  return json ? me_json(status, me) : format_me(status, board);
}

Diagnosis diagnose(const Arguments& arguments) {
  const std::vector<Finding> findings = examine(gather(arguments));
  return {arguments.json ? format_findings_json(findings) : format_findings(findings), is_well(findings)};
}

Diagnosis self_test(const Arguments& arguments, const std::string& trainer_folder) {
  const wire::ComputeLimits limits = limits_wished(arguments.data_dir);
  const int share = std::max(1, processors_allowed() * limits.threads_idle_percent / 100);
  const int threads = std::min(share, limits.threads_max.value_or(share));
  for (const int ending : {SIGINT, SIGTERM}) std::signal(ending, [](int) { was_interrupted = 1; });
  SelfTestOptions options;
  options.computing = std::chrono::seconds(arguments.self_test_seconds);
  options.memory_bytes = std::min(memory_allowed_bytes() / 100 * limits.memory_idle_percent, memory_free_bytes() / 2);
  options.memory_bytes = std::min(options.memory_bytes, kTestedMemoryMax);
  options.stopped = [] { return was_interrupted != 0; };
  const bool shows = !arguments.progress && ::isatty(STDERR_FILENO) == 1;
  if (shows) options.progress = [](const std::string& line) { std::fprintf(stderr, "\r%s\033[K", line.c_str()); };
  if (arguments.progress)
    options.progress = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };

  std::vector<Finding> findings;
  auto run = self_test_run(trainer_link::trainer_program(trainer_folder), threads);
  findings.push_back(run.ok() ? computing_of(std::move(*run), options)
                              : Finding{Health::bad, "trainer", run.error().message, ""});
  if (!options.stopped()) findings.push_back(check_memory(options));
  findings.push_back({Health::note, "graphics", "a card is not looked at by this test", ""});
  if (shows) std::fputs("\r\033[K", stderr);
  return {arguments.json ? format_findings_json(findings) : format_findings(findings), is_well(findings),
          options.stopped()};
}

std::string make_report(const Arguments& arguments) {
  const Facts facts = gather(arguments);
  std::string text = fmt::format(
      "Starling {}: a report. Read it before you pass it on. Addresses, e-mails, secrets and the names of this\n"
      "computer and its user were taken out; the name of the project and yours in it were not.\n\n== computer\n{}",
      kVersion, system_text());
  text += "\n== findings\n" + format_findings(examine(facts));
  if (!facts.no_daemon) {
    text += "\n== status\n" + format_status(facts.status) + "\n" + wire::encode_status(facts.status);
    text += "\n== preferences\n" + format_preferences(facts.preferences);
  }
  text += "\n== log\n" + facts.log;
  return plain_lines(redact(text, private_of_this_computer()));
}

}  // namespace starling::cli
