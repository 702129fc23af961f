// The pages of one volunteer and of one team, and certificates: what their routes answer.
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

// `number` as it stands in the address. Whoever is not there, or not to be seen, gets a 404 page.
Result<gate::Response> volunteer_response(const ProfileParts& parts, std::string_view number);
Result<gate::Response> team_response(const ProfileParts& parts, std::string_view number);
// An SVG of one page.
Result<gate::Response> certificate_response(const ProfileParts& parts, std::string_view number);
// The 404 page: "There is no volunteer at this address."
gate::Response nobody(const ProfileParts& parts, std::string_view what);
// The page that says what a certificate's code stands for.
Result<gate::Response> certificate_check_response(const ProfileParts& parts, std::string_view code);

}  // namespace starling::web
