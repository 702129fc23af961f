// Whatever somebody else writes, terminals, logs, pages and notifications show plain text: no control character, none
// that sets the direction of text, nothing that is no UTF-8. The input stands in every place of a message that is
// shown, and goes the whole way: sent, read, and written where people look.
#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "client/cli/status_text.h"
#include "client/cli/views_text.h"
#include "client/trainer_link/messages.h"
#include "coordinator/operations/maintenance.h"
#include "coordinator/web/form.h"
#include "coordinator/web/html.h"
#include "shared/base/files.h"
#include "shared/base/log.h"
#include "shared/base/plain_text.h"
#include "shared/control/control.h"
#include "shared/net/http_client.h"
#include "shared/protocol/error_reply.h"
#include "shared/protocol/heartbeat_reply.h"
#include "shared/protocol/join.h"
#include "shared/protocol/team.h"
#include "tests/fuzz/fuzz_target.h"

using namespace starling;

namespace {

// Bytes that every field takes, even if each becomes a character of three.
constexpr std::size_t kShownMax = 160;
constexpr std::size_t kLogBytesMax = 1 << 16;

// Looks for itself, by another road than plain_text.cpp: UTF-8's own patterns, byte by byte.
bool is_fit(std::string_view text, bool keeps_lines) {
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = [&](std::size_t ahead) {
      return at + ahead < text.size() ? static_cast<unsigned char>(text[at + ahead]) : 0u;
    };
    const auto in = [](unsigned value, unsigned least, unsigned most) { return value >= least && value <= most; };
    const unsigned a = byte(0);
    if (a < 0x80) {
      if ((a < 0x20 || a == 0x7f) && !(keeps_lines && (a == '\n' || a == '\t'))) return false;
      at += 1;
    } else if (in(a, 0xc2, 0xdf)) {
      if (!in(byte(1), 0x80, 0xbf) || (a == 0xc2 && byte(1) < 0xa0)) return false;  // C1
      if (a == 0xd8 && byte(1) == 0x9c) return false;                               // U+061C
      at += 2;
    } else if (in(a, 0xe0, 0xef)) {
      const unsigned b = byte(1);
      const unsigned c = byte(2);
      if (!in(b, a == 0xe0 ? 0xa0 : 0x80, a == 0xed ? 0x9f : 0xbf) || !in(c, 0x80, 0xbf)) return false;
      const bool general = a == 0xe2 && b == 0x80;  // U+2000 to U+203F
      if (general && (in(c, 0x8e, 0x8f) || in(c, 0xa8, 0xae))) return false;
      if (a == 0xe2 && b == 0x81 && in(c, 0xa6, 0xaf)) return false;  // U+2066 to U+206F
      at += 3;
    } else {
      if (!in(a, 0xf0, 0xf4) || !in(byte(1), a == 0xf0 ? 0x90 : 0x80, a == 0xf4 ? 0x8f : 0xbf)) return false;
      if (!in(byte(2), 0x80, 0xbf) || !in(byte(3), 0x80, 0xbf)) return false;
      at += 4;
    }
  }
  return true;
}

void check_line(std::string_view text) { VERIFY(is_fit(text, false)); }
void check_lines(std::string_view text) { VERIFY(is_fit(text, true)); }

void check_function(std::string_view said) {
  const std::string line = plain_line(said);
  const std::string lines = plain_lines(said);
  check_line(line);
  check_lines(lines);
  VERIFY(line.size() <= said.size() && lines.size() <= said.size());
  VERIFY(plain_line(line) == line && plain_lines(lines) == lines && plain_line(lines).size() == lines.size());
  VERIFY(is_plain_line(said) == is_fit(said, false));
  VERIFY((lines == said) == is_fit(said, true));
}

// A log's file, from the record on that is written here.
void check_log(std::string_view said) {
  static const std::string file = (std::filesystem::temp_directory_path() / fmt::format("shown-{}.log", getpid()));
  static std::size_t written = kLogBytesMax;
  if (written >= kLogBytesMax) {
    std::filesystem::remove(file);
    init_logging({.to_stderr = false, .file = file, .file_bytes_max = 4 * kLogBytesMax, .files_kept = 1});
    written = 0;
  }
  log_info("the project says: {}", said);
  flush_logs();
  const std::string record = read_file(file, 4 * kLogBytesMax).value().substr(written);
  written += record.size();
  VERIFY(record.ends_with('\n'));
  check_line(std::string_view(record).substr(0, record.size() - 1));
}

// The texts of a coordinator's replies.
void check_replies(const std::string& said) {
  const net::HttpResponse refusal{403, "application/json", wire::encode(wire::ErrorReply{"internal", said}), {}};
  check_line(net::body_of(refusal).error().message);
  wire::HeartbeatReply reply;
  reply.notice = said;
  reply.seen.address = said.substr(0, 16);
  if (const auto read = wire::decode_heartbeat_reply(wire::encode(reply))) {
    check_lines(read->notice);
    check_line(read->seen.address);
  }
  wire::JoinReply joined;
  joined.project_name = joined.display_name = said;
  if (const auto read = wire::decode_join_reply(wire::encode(joined))) {
    check_line(read->project_name);
    check_line(read->display_name);
  }
  wire::TeamReply team;
  team.name = team.founder = said;
  if (const auto read = wire::decode_team_reply(wire::encode(team))) {
    check_line(read->name);
    check_line(read->founder);
  }
}

// A daemon's reply, as a terminal and a window get it: windows and notifications show the texts of the status alone.
void check_control(const std::string& said) {
  wire::ControlReply reply;
  wire::DaemonStatus& status = reply.status.emplace();
  status.reason = status.ends_when = said;
  status.problems = {said, said};
  status.membership.project = status.membership.display_name = said;
  status.membership.run_id = status.membership.run_title = status.membership.run_state = said;
  status.update.text = status.update.version = status.update.notes = said;
  status.rules.action = status.rules.gpu_reason = said;
  status.reach.relay_problem = said;
  status.swarm.plan = said;
  reply.text = said;
  reply.preview.emplace().project = said;
  reply.preview->run_title = said;
  reply.leaderboard.emplace().project = said;
  reply.leaderboard->rows = {{1, said, {}}};
  wire::ProjectView& project = reply.projects.emplace().emplace_back();
  project.name = project.display_name = project.address = said;
  reply.team.emplace().name = said;
  const auto read = wire::decode_control_reply(wire::encode_line(reply));
  if (!read) return;
  check_line(read->status->reason);
  check_line(read->status->membership.run_title);
  check_lines(read->status->update.notes);
  check_lines(cli::format_status(*read->status));
  check_line(cli::format_status_line(*read->status));
  check_lines(cli::format_preview(*read->preview));
  check_lines(cli::format_leaderboard(*read->leaderboard));
  check_lines(cli::format_projects(*read->projects));
  check_lines(cli::format_team(*read->team));
  check_lines(read->text);
  reply = {};
  reply.error = Error{ErrorCode::internal, said};
  check_lines(wire::decode_control_reply(wire::encode_line(reply))->error->message);
  wire::Pause pause;
  pause.reason = said;
  const auto paused = wire::decode_control_request(wire::encode_line(pause));
  if (paused) check_line(std::get<wire::Pause>(*paused).reason);
}

// A program of a project says it, a person types it, a page shows it.
void check_others(std::string_view bytes, const std::string& said) {
  trainer_link::Reply failure;
  failure.status = Error{ErrorCode::internal, said};
  const std::string sent = trainer_link::encode(failure);
  const auto* begin = reinterpret_cast<const std::uint8_t*>(sent.data());
  check_lines(trainer_link::decode_reply({begin, sent.size()})->status.error().message);
  const web::Form form("text=" + std::string(bytes));
  check_line(form.value("text"));
  check_lines(form.lines("text"));
  check_lines(web::escape(said));
  check_line(operations::notice_of({said}));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = testing::text_of(data, size);
  const std::string said(bytes.substr(0, kShownMax));
  check_function(bytes);
  check_log(said);
  check_replies(said);
  check_control(said);
  check_others(bytes, said);
  return 0;
}
