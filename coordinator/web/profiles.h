// Responses of the routes for one volunteer, one team, and certificates.
#pragma once

#include <string>
#include <string_view>

#include "coordinator/gate/router.h"
#include "db/stores/stores.h"
#include "shared/base/clock.h"
#include "shared/base/result.h"

namespace starling::web {

struct ProfileParts {
  std::string project;
  std::string web_root;
  std::string secret;  // the coordinator's own
  const db::Stores& stores;
  WallTime now;
};

// `number` is as in the address. A volunteer or team that does not exist, or may not be seen, gets a 404 page.
Result<gate::Response> volunteer_response(const ProfileParts& parts, std::string_view number);
Result<gate::Response> team_response(const ProfileParts& parts, std::string_view number);
// An SVG of one page.
Result<gate::Response> certificate_response(const ProfileParts& parts, std::string_view number);
// The 404 page: "There is no volunteer at this address."
gate::Response nobody(const ProfileParts& parts, std::string_view what);
// The page that tells whether a certificate's code is genuine and what it states.
Result<gate::Response> certificate_check_response(const ProfileParts& parts, std::string_view code);

}  // namespace starling::web
