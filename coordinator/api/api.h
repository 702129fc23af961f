// The routes for programs; shared/protocol/heartbeat.h is their contract. Handlers run on several threads at once and
// decode outside of every lock.
#pragma once

#include <filesystem>
#include <string>

#include "coordinator/accounts/accounts.h"
#include "coordinator/api/call_limits.h"
#include "coordinator/api/checkpoint_inbox.h"
#include "coordinator/api/deny_list.h"
#include "coordinator/api/host_table.h"
#include "coordinator/api/run_service.h"
#include "coordinator/gate/router.h"
#include "coordinator/operations/maintenance.h"
#include "db/stores/stores.h"
#include "shared/base/clock.h"
#include "shared/crypto/certificates.h"

namespace starling::api {

// The number of computers that strangers may add from one address: a class of a school at once, but not accounts by the
// thousand.
constexpr accounts::KeyedLimits kJoinLimits{40, 1.0 / 60};

struct Api {
  std::string project_name;
  std::filesystem::path artefacts;  // files named by the hex of their SHA-256
  std::string manifest_public_key_pem;
  const crypto::CertificateAuthority& authority;
  const db::Stores& stores;
  const HostTable& hosts;
  const DenyList& denied;
  accounts::Accounts& accounts;
  accounts::KeyedLimiter& joins;  // by address, where joining needs no invite
  CallLimits& calls;
  RunService& run;
  CheckpointInbox& checkpoints;
  const operations::MaintenanceSign& maintenance;
  const Clock& clock;
  std::int64_t copies_bytes = 0;  // copies of runs' states take no more than this, apart from the newest two of a run
};

// Adds every /v1 route and /healthz. A member's calls beyond CallLimits are answered with 429. `api` must outlive the
// router.
void add_routes(gate::Router& router, const Api& api);

// Returns the account of the calling computer. unauthenticated or permission_denied for computers that may not call.
Result<AccountId> admit_member(const Api& api, const gate::Request& request);

// Handlers of the routes, by family.
gate::Response join(const Api& api, const gate::Request& request);
gate::Response renew(const Api& api, const gate::Request& request);
gate::Response heartbeat(const Api& api, const gate::Request& request);
gate::Response unusable_samples(const Api& api, const gate::Request& request);
gate::Response team(const Api& api, const gate::Request& request);
gate::Response checkpoint(const Api& api, const gate::Request& request);
gate::Response artefact(const Api& api, const gate::Request& request);
gate::Response status(const Api& api, const gate::Request& request);

}  // namespace starling::api
