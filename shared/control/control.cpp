#include "shared/control/control.h"

#include <fmt/core.h>

#include <utility>

#include "shared/control/control_fields.h"
#include "shared/protocol/message_fields.h"

namespace starling::wire {
namespace {

// Makes `request` the one of this command; false if there is none.
template <std::size_t kIndex = 0>
bool set_command(ControlRequest& request, std::string_view command) {
  if constexpr (kIndex < std::variant_size_v<ControlRequest>) {
    using Command = std::variant_alternative_t<kIndex, ControlRequest>;
    if (Command::kCommand != command) return set_command<kIndex + 1>(request, command);
    request.emplace<kIndex>();
    return true;
  }
  return false;
}

void read_request(JsonReader& in, ControlRequest& request) {
  std::string command;
  in.text("command", command, kLineTextBytesMax);
  if (!in.status().ok()) return;
  if (!set_command(request, command)) {
    return in.refuse("command", fmt::format("this daemon has no command '{}'; if Starling was updated, start the "
                                            "daemon again",
                                            command));
  }
  std::visit([&](auto& fields) { read_fields(in, fields); }, request);
}

}  // namespace

std::string_view to_string(DaemonPhase phase) { return word_of(phase); }

bool has_round_under_way(DaemonPhase phase) {
  return phase == DaemonPhase::training || phase == DaemonPhase::averaging || phase == DaemonPhase::stepping ||
         phase == DaemonPhase::evaluating;
}

std::string_view command_of(const ControlRequest& request) {
  return std::visit([](const auto& command) { return command.kCommand; }, request);
}

std::string encode_line(const ControlRequest& request) {
  JsonWriter out;
  FieldWriter writer(out);
  out.open("", '{');
  out.text("command", command_of(request));
  std::visit([&](const auto& command) { each_field(writer, command); }, request);
  out.close('}');
  return out.str() + "\n";
}

std::string encode_line(const ControlReply& reply) { return encode_fields(reply) + "\n"; }
std::string encode_status(const DaemonStatus& status) { return encode_fields(status) + "\n"; }
std::string encode(const PauseRequest& request) { return encode_fields(request); }

Result<ControlRequest> decode_control_request(std::string_view line) {
  return decode_json<ControlRequest>(line, "request", kControlLineBytesMax, read_request);
}

Result<ControlReply> decode_control_reply(std::string_view line) {
  return decode_fields<ControlReply>(line, "reply", kControlLineBytesMax);
}

Result<LeaderboardView> decode_leaderboard(std::string_view json) {
  return decode_fields<LeaderboardView>(json, "leaderboard", kReplyBytesMax);
}

Result<PauseRequest> decode_pause_request(std::string_view json) {
  constexpr std::size_t kPauseRequestBytesMax = 16 * 1024;
  return decode_fields<PauseRequest>(json, "pause", kPauseRequestBytesMax);
}

}  // namespace starling::wire
