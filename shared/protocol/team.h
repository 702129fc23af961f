// A volunteer's team, as the volunteer's computer asks for it:
//   POST /v1/team          TeamRequest -> TeamReply       (client certificate required)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "shared/base/result.h"

namespace starling::wire {

constexpr std::size_t kTeamNameBytesMax = 128;

// A request about the team of the account that the client certificate belongs to.
struct TeamRequest {
  std::string action;     // "show", "found", "join" or "leave"
  std::string name = {};  // the team's, to found or join
};
// The volunteer's team after the request. Its page is /team/ID.
struct TeamReply {
  std::string name;  // empty: none
  std::int64_t id = 0;
  std::string founder;
  std::int64_t members = 0;
  double credit = 0;
  double recent_average = 0;  // credit a day
  std::int64_t rank = 0;      // by the recent average; 0: none yet
};

std::string encode(const TeamRequest& message);
std::string encode(const TeamReply& message);
Result<TeamRequest> decode_team_request(std::string_view json);
Result<TeamReply> decode_team_reply(std::string_view json);

}  // namespace starling::wire
