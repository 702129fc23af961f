// The volunteer's questions to a coordinator that have nothing to do with training: the target of a join link, and the
// leaderboard. Each takes a few requests, anonymous except those about the volunteer's team.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/daemon/corrected_clock.h"
#include "client/storage/project_files.h"
#include "shared/base/mutex.h"
#include "shared/base/result.h"
#include "shared/control/control.h"
#include "shared/crypto/keys.h"
#include "shared/net/http_client.h"
#include "shared/net/line.h"

namespace starling::daemon {

// May be asked from several threads at once; the answers block.
class LookUps {
 public:
  // All traffic takes from `line`. It and `clock` outlive this object.
  LookUps(net::Line& line, CorrectedClock& clock) : line_(line), clock_(clock) {}
  Result<wire::ProjectPreview> preview(const std::string& link);
  // Returns a page of the leaderboard, with the volunteer's own row.
  Result<wire::LeaderboardView> leaderboard(const storage::Project& project, const wire::GetLeaderboard& request);
  // Returns the volunteer's team, after founding, joining or leaving one if that is asked for.
  Result<wire::TeamReply> team(const storage::Project& project, const crypto::PrivateKey& key,
                               const wire::ArrangeTeam& request);
  // Ends look-ups under way and refuses those that follow.
  void cancel() EXCLUDES(mutex_);
  // Bytes moved both ways so far, TLS included.
  [[nodiscard]] std::int64_t wire_bytes() const { return wire_bytes_; }

 private:
  class Call;  // one client, for the duration of its use
  Status ensure_valid_certificate(const storage::Project& project, const crypto::PrivateKey& key);

  net::Line& line_;
  CorrectedClock& clock_;
  std::atomic<std::int64_t> wire_bytes_{0};
  Mutex mutex_;
  std::vector<net::HttpClient*> clients_ GUARDED_BY(mutex_);
  bool cancelled_ GUARDED_BY(mutex_) = false;
};

}  // namespace starling::daemon
