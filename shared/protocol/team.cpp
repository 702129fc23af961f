#include "shared/protocol/team.h"

#include "shared/protocol/messages.h"
#include "shared/wire/json_writer.h"

namespace starling::wire {

std::string encode(const TeamRequest& message) {
  JsonWriter writer;
  writer.open("", '{');
  writer.text("action", message.action);
  writer.text("name", message.name);
  writer.close('}');
  return std::move(writer.str());
}

std::string encode(const TeamReply& message) {
  JsonWriter writer;
  writer.open("", '{');
  writer.text("name", message.name);
  writer.integer("id", message.id);
  writer.text("founder", message.founder);
  writer.integer("members", message.members);
  writer.number("credit", message.credit);
  writer.number("recent_average", message.recent_average);
  writer.integer("rank", message.rank);
  writer.close('}');
  return std::move(writer.str());
}

Result<TeamRequest> decode_team_request(std::string_view json) {
  return decode_json<TeamRequest>(json, "team request", kJsonBytesMax, [](JsonReader& reader, TeamRequest& message) {
    reader.text("action", message.action, kNameBytesMax);
    reader.text("name", message.name, kTeamNameBytesMax);
  });
}

Result<TeamReply> decode_team_reply(std::string_view json) {
  return decode_json<TeamReply>(json, "team reply", kReplyBytesMax, read_team);
}

void read_team(JsonReader& in, TeamReply& out) {
  in.text("name", out.name, kTeamNameBytesMax);
  in.integer("id", out.id, 0, kMessageCountMax);
  in.text("founder", out.founder, kTeamNameBytesMax);
  in.integer("members", out.members, 0, kMessageCountMax);
  in.number("credit", out.credit, 0, kMessageRateMax);
  in.number("recent_average", out.recent_average, 0, kMessageRateMax);
  in.integer("rank", out.rank, 0, kMessageCountMax);
}

}  // namespace starling::wire
