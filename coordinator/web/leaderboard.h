// The leaderboard's routes: /, /v1/leaderboard (the page) and /v1/leaderboard.json.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "coordinator/gate/router.h"
#include "coordinator/web/leaderboard_page.h"
#include "db/stores/stores.h"
#include "shared/base/clock.h"
#include "shared/base/mutex.h"
#include "shared/base/result.h"

namespace starling::web {

// The run that is being served, as the leaderboard needs it.
struct ShownRun {
  RunId run_id;
  std::string title;
  core::SwarmView swarm;
};

class Leaderboard {
 public:
  struct Parts {
    std::string project;
    const db::Stores& stores;
    std::function<std::optional<ShownRun>()> shown_run;
    const Clock& clock;
  };
  // What `parts` refer to must outlive the leaderboard, and this the router.
  explicit Leaderboard(Parts parts) : parts_(std::move(parts)) {}

  void add_routes(gate::Router& router);

  // Pages are made at most so often, however many people look.
  static constexpr Duration kFreshFor = std::chrono::seconds(1);

 private:
  struct Cached {
    std::optional<gate::Response> response;
    TimePoint made{};
  };
  gate::Response fresh(Cached Leaderboard::*cached, gate::Response (Leaderboard::*make)());
  gate::Response page(int number);
  gate::Response first_page() { return page(1); }
  gate::Response json();
  Result<PageData> read(int page, int rows) const;

  const Parts parts_;
  Mutex mutex_;
  Cached first_page_ GUARDED_BY(mutex_);
  Cached json_ GUARDED_BY(mutex_);
};

}  // namespace starling::web
