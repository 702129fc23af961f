// Asks the release host for newer versions, and fetches them. Every call blocks; one thread, except for cancel().
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "client/updates/installation.h"
#include "client/updates/root_rules.h"
#include "client/updates/update_rules.h"
#include "client/updates/update_source.h"
#include "shared/base/mutex.h"
#include "shared/net/line.h"
#include "shared/protocol/release_feed.h"
#include "shared/web/web_client.h"

namespace starling::updates {

// Result of a check.
struct Found {
  wire::ReleaseFeed feed;
  Judgement judgement;
};

class Updater {
 public:
  // Keeps in `data_dir` which feeds and roots it has seen. Without an installation it only reports. `line` as in
  // web::WebOptions.
  Updater(UpdateSource source, std::optional<Installation> installation, const std::filesystem::path& data_dir,
          net::Line* line = nullptr);

  [[nodiscard]] bool can_install() const { return installation_.has_value(); }
  // Time of the last check that brought a genuine feed; 0: none.
  [[nodiscard]] WallTime last_check() const { return last_check_; }

  Result<Found> check(WallTime now);
  // Unpacks the version of judgement.newer beside this one. Continues an interrupted download.
  Status fetch(const Found& found, std::int64_t free_bytes_min, const std::function<bool(std::int64_t)>& progress);

  [[nodiscard]] std::int64_t wire_bytes() const { return wire_bytes_; }  // bytes moved so far; any thread
  // Ends a call in progress and refuses later ones. From any thread.
  void cancel() EXCLUDES(mutex_);

 private:
  // The feed, after the roots that lie beside it.
  Result<wire::ReleaseFeed> ask(web::WebClient& client, WallTime now);
  Status follow_roots(web::WebClient& client);
  Result<std::unique_ptr<web::WebClient>> connect() EXCLUDES(mutex_);
  void disconnect(std::unique_ptr<web::WebClient> client) EXCLUDES(mutex_);
  void recall();
  Status remember() const;
  [[nodiscard]] wire::WebAddress address_of(const std::string& path) const {
    return {source_.server.host, source_.server.port, path};
  }
  [[nodiscard]] std::string feed_address() const { return source_.server.host + source_.feed_path; }

  UpdateSource source_;
  Trust trust_;  // the pinned one, or a newer root that was seen
  net::Line* line_;
  std::optional<Installation> installation_;
  std::filesystem::path memory_file_;
  std::int64_t serial_seen_ = 0;
  WallTime last_check_;
  std::atomic<std::int64_t> wire_bytes_{0};
  std::atomic<bool> cancelled_{false};
  Mutex mutex_;
  web::WebClient* client_ GUARDED_BY(mutex_) = nullptr;
};

}  // namespace starling::updates
