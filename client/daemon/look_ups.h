// Questions of the volunteer to a coordinator that have nothing to do with training: what a join link leads to, and who
// has contributed how much. Each is a few requests, anonymous but those about the volunteer's team.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/storage/project_files.h"
#include "shared/base/mutex.h"
#include "shared/base/result.h"
#include "shared/crypto/keys.h"
#include "shared/net/http_client.h"
#include "shared/net/line.h"
#include "shared/wire/control.h"

namespace starling::daemon {

// May be asked from several threads at once; the answers block.
class LookUps {
 public:
  // `line`, which all traffic takes from, outlives this object.
  explicit LookUps(net::Line& line) : line_(line) {}
  Result<wire::ProjectPreview> preview(const std::string& link);
  // A page of it, with the volunteer's own row.
  Result<wire::LeaderboardView> leaderboard(const storage::Project& project, const wire::ControlRequest& request);
  // The volunteer's team, after founding, joining or leaving one if that is asked for.
  Result<wire::TeamReply> team(const storage::Project& project, const crypto::PrivateKey& key,
                               const wire::ControlRequest& request);
  // Ends what is under way and refuses what follows.
  void cancel() EXCLUDES(mutex_);
  // Moved both ways so far, TLS included.
  [[nodiscard]] std::int64_t wire_bytes() const { return wire_bytes_; }

 private:
  class Call;  // one client, for as long as it is used

  net::Line& line_;
  std::atomic<std::int64_t> wire_bytes_{0};
  Mutex mutex_;
  std::vector<net::HttpClient*> clients_ GUARDED_BY(mutex_);
  bool cancelled_ GUARDED_BY(mutex_) = false;
};

}  // namespace starling::daemon
