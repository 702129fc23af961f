#include "coordinator/server/leadership.h"

#include "shared/base/log.h"

namespace starling::server {
namespace {

constexpr const char* kLeader = "leader";  // the setting with the leader's address

}  // namespace

Status Leadership::look() {
  if (!address_) {
    leads_ = true;
    return {};
  }
  const Result<bool> campaign = database_.campaign();
  const bool led = leads_.exchange(campaign.ok() && *campaign);  // whether it led before this look
  if (led && !leads_) log_warning("this coordinator does not lead any more");
  STARLING_TRY(campaign.status());
  return follow(led);
}

Status Leadership::follow(bool led) {
  if (leads_ && !led) {
    STARLING_TRY(database_.stores().operation.settings.set(kLeader, *address_));
    log_info("this coordinator leads now");
  }
  if (leads_) return {};
  STARLING_ASSIGN(std::string leader, read_leader(database_.stores().operation.settings));
  MutexLock lock(mutex_);
  leader_ = std::move(leader);
  return {};
}

std::string Leadership::leader() const {
  MutexLock lock(mutex_);
  return leader_;
}

Result<std::string> Leadership::read_leader(const db::SettingStore& settings) {
  STARLING_ASSIGN(const auto leader, settings.find(kLeader));
  return leader.value_or("");
}

}  // namespace starling::server
