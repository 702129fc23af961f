// The project's pages, and the same figures for programs. The routes are:
//
//   /  (also /v1/leaderboard)     the run                  /favicon.svg
//   /leaderboard                  ?of=volunteers|teams|computers &sort=recent|total|run|day|week &page= &q= &me=
//   /leaderboard.csv, /v1/leaderboard.json                 the same, and &per_page= up to 1000
//   /volunteer/NUMBER, /team/NUMBER
//   /certificate/NUMBER           of a volunteer, as SVG, or NUMBER.pdf;  /certificate?code= : is it one of ours
//   /run/ID                       a run that is not the one being served
//   /credit                       how credit is counted
//   /status, /status.json         is the project well
//   /swarm.json                   how fast the swarm's computers and lines are, kind by kind (operations::write_swarm)
//   /assets/FILE                  scripts (scripts.h)
//   /stats/                       which files there are for statistics sites
//   /stats/FILE                   one of them (stats_files.h)
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "coordinator/gate/router.h"
#include "coordinator/operations/maintenance.h"
#include "coordinator/web/leaderboard_page.h"
#include "coordinator/web/profiles.h"
#include "coordinator/web/run_page.h"
#include "coordinator/web/status_page.h"
#include "db/stores/stores.h"
#include "shared/base/clock.h"
#include "shared/base/limited_log.h"
#include "shared/base/mutex.h"
#include "shared/base/result.h"
#include "shared/swarm/runtime_model.h"

namespace starling::web {

class Site {
 public:
  struct Parts {
    std::string project;
    const db::Stores& stores;
    std::function<std::optional<ShownRun>()> shown_run;
    std::function<ServerHealth()> health;
    JoinAdvice join;
    const Clock& clock;
    std::string web_root = {};                                 // "https://example.org:7300"
    std::string secret = {};                                   // proves certificates
    const operations::MaintenanceSign* maintenance = nullptr;  // null: never under maintenance
    std::filesystem::path stats_folder = {};
    std::function<std::vector<swarm::Host>()> hosts = [] { return std::vector<swarm::Host>{}; };  // the served run's
  };
  // Everything that `parts` refers to must outlive the site, and the site must outlive the router.
  explicit Site(Parts parts) : parts_(std::move(parts)) {}

  void add_routes(gate::Router& router);

  // The lifetime of a shared page: it is made at most this often, however many people look at it.
  static constexpr Duration kFreshFor = std::chrono::seconds(1);
  // The number of pages for a single viewer (searches, deep pages) that may be made at once; further ones get a 503.
  // Other workers stay free for heartbeats.
  static constexpr int kPrivatePagesMax = 2;

 private:
  struct Cached {
    std::optional<gate::Response> response;
    gate::Response compressed;
    TimePoint made{};
    bool under_way = false;
  };
  using Make = std::function<Result<gate::Response>()>;
  using Render = std::string (*)(const LeaderboardData&);

  // The response with the maintenance notice, if there is maintenance.
  gate::Response noticed(gate::Response response) const;
  // Always returns a response, even on an exception, so that the caller's next lines run.
  gate::Response answer(const Make& make);
  gate::Response shared(const gate::Request& request, const std::string& key, const Make& make);
  gate::Response alone(const gate::Request& request, const Make& make);
  gate::Response leaderboard(const gate::Request& request, std::string_view content_type, Render render);

  Result<gate::Response> run_page() const;
  Result<gate::Response> credit_page() const;
  Result<gate::Response> stats_page() const;
  [[nodiscard]] StatusData status() const;
  [[nodiscard]] ProfileParts profile_parts() const;
  // `board` is the ranking of its volunteers.
  Result<RunFigures> figures(const ShownRun& shown, db::Board board) const;
  Result<gate::Response> past_run(const RunId& run_id) const;
  Result<std::vector<OtherRun>> other_runs(const std::optional<ShownRun>& shown) const;

  const Parts parts_;
  std::atomic<int> private_pages_ = 0;
  LimitedLog failures_;
  Mutex mutex_;
  std::map<std::string, Cached> cache_ GUARDED_BY(mutex_);  // one entry for each shared page
};

}  // namespace starling::web
