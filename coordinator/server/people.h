// Everything about accounts, assembled for the server.
#pragma once

#include <memory>
#include <string>

#include "coordinator/accounts/accounts.h"
#include "coordinator/api/deny_list.h"
#include "coordinator/operations/maintenance.h"
#include "coordinator/server/commands.h"
#include "coordinator/server/project.h"
#include "coordinator/web/account_site.h"

namespace starling::server {

// References to everything that accounts work with. The server owns all of it.
struct PeopleParts {
  const Project& project;
  const ServeOptions& options;
  const db::Stores& stores;
  const Clock& clock;
  const operations::MaintenanceSign& maintenance;
};

struct People {
  People(const PeopleParts& parts, const std::string& secret, std::unique_ptr<accounts::Outbox> letters);

  std::unique_ptr<accounts::Outbox> outbox;
  accounts::BanList bans;
  api::DenyList denied;
  accounts::Accounts accounts;
  web::AccountSite site;
};

// The objects that `parts` refers to must outlive the result.
Result<std::unique_ptr<People>> open_people(const PeopleParts& parts);

// The project's join link with that invite; without one if `invite` is empty.
std::string link_with(const Project& project, const std::string& invite);

}  // namespace starling::server
