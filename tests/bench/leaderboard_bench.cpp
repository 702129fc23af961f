#include "tests/bench/leaderboard_bench.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <future>
#include <thread>

#include "coordinator/web/site.h"
#include "db/stores/database.h"
#include "shared/base/permutation.h"
#include "tests/support/temp_dir.h"

namespace starling::bench {
namespace {

constexpr const char* kRun = "crowd";
constexpr int kRoundMembers = 1000;
constexpr int kRoundsInFlight = 4;
constexpr int kRepeats = 15;
constexpr std::int64_t kDaysOfHistory = 30;
constexpr std::int64_t kDayMs = 86'400'000;

PeerId peer_of(int volunteer) {
  PeerId peer;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::uint64_t word = mix64(static_cast<std::uint64_t>(volunteer) * 4 + i);
    std::memcpy(peer.bytes.data() + 8 * i, &word, sizeof word);
  }
  return peer;
}

double cpu_seconds(clockid_t clock) {
  timespec time = {};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

class Crowd {
 public:
  static Result<std::unique_ptr<Crowd>> make(const LeaderboardOptions& options) {
    std::unique_ptr<Crowd> crowd(new Crowd(options));
    STARLING_TRY(crowd->open());
    STARLING_TRY(crowd->stores().training.runs.create({kRun, "", db::RunState::running, crowd->start_, 0}));
    STARLING_TRY(crowd->join_all());
    return crowd;
  }

  Status open() {
    STARLING_ASSIGN(database_, db::Database::open(file(), {.create = true, .ballast_bytes = 0}));
    return {};
  }
  [[nodiscard]] const db::Stores& stores() const { return database_->stores(); }
  // Closes the database, so that the WAL is empty, and opens it again.
  Result<double> file_bytes() {
    database_.reset();
    const auto bytes = static_cast<double>(std::filesystem::file_size(file()));
    STARLING_TRY(open());
    return bytes;
  }
  // Credits everybody once, so that later rounds add only ledger lines.
  Status credit_everybody() {
    const std::int64_t rounds = (options_.volunteers + kRoundMembers - 1) / kRoundMembers;
    STARLING_TRY(append(0, rounds, 0).status());
    first_round_ = rounds;
    return {};
  }
  // Appends, through the store, rounds that began kDaysOfHistory ago and end now. Returns the seconds taken.
  Result<double> fill() { return append(first_round_, options_.lines / kRoundMembers, kDaysOfHistory * kDayMs); }
  Status roll() {
    // Each call takes kRollLinesMax lines at most; a write waits for it.
    for (std::int64_t i = 0; i <= 2 * options_.lines / 20'000 + 2; ++i) {
      STARLING_TRY(stores().credit.standings.roll(clock_.wall_now()));
      STARLING_TRY(stores().training.runs.set_state(kRun, db::RunState::running));
    }
    return {};
  }

 private:
  explicit Crowd(const LeaderboardOptions& options)
      : options_(options), start_{clock_.wall_now().unix_ms - kDaysOfHistory * kDayMs} {}
  [[nodiscard]] std::filesystem::path file() const { return folder_ / "crowd.db"; }

  // Returns the seconds taken.
  Result<double> append(std::int64_t first, std::int64_t rounds, std::int64_t span_ms) {
    const TimePoint begin = clock_.now();
    std::vector<std::future<Status>> waiting;
    for (std::int64_t i = 0; i < rounds; ++i) {
      auto done = std::make_shared<std::promise<Status>>();
      waiting.push_back(done->get_future());
      const WallTime at{start_.unix_ms + (i + 1) * span_ms / rounds};
      STARLING_TRY(stores().training.contributions.append_async(
          result_of(first + i, at), [done](const Result<db::AppendOutcome>& out) { done->set_value(out.status()); }));
      if (waiting.size() < kRoundsInFlight) continue;
      STARLING_TRY(waiting.front().get());
      waiting.erase(waiting.begin());
    }
    for (auto& last : waiting) STARLING_TRY(last.get());
    return to_seconds(clock_.now() - begin);
  }

  Status join_all() {
    accounts_.resize(static_cast<std::size_t>(options_.volunteers));
    return all_at_once(options_.volunteers, [this](int i) -> Status {
      const std::string name = fmt::format("{} {}", i % 2 == 0 ? "volunteer" : "helper", i);
      STARLING_ASSIGN(accounts_[static_cast<std::size_t>(i)],
                      stores().people.accounts.join({name, peer_of(i), {}, start_}));
      return {};
    });
  }

  [[nodiscard]] db::RoundResult result_of(std::int64_t round, WallTime at) const {
    db::RoundResult result;
    result.record.run_id = kRun;
    result.record.round = round;
    result.record.decided_at = at;
    for (int i = 0; i < std::min(kRoundMembers, options_.volunteers); ++i) {
      // Each round credits another thousand volunteers, so that everybody has a turn.
      const int who = static_cast<int>((round * kRoundMembers + i) % options_.volunteers);
      const auto samples = static_cast<SampleCount>(1 + mix64(static_cast<std::uint64_t>(round * 7 + who)) % 1000);
      result.contributions.push_back(
          {peer_of(who), accounts_[static_cast<std::size_t>(who)], samples, samples * 37'037, at});
    }
    return result;
  }

  const LeaderboardOptions options_;
  SystemClock clock_;
  WallTime start_;
  starling::testing::TempDir folder_;
  std::unique_ptr<db::Database> database_;
  std::vector<AccountId> accounts_;
  std::int64_t first_round_ = 0;
};

struct PageTimes {
  double worst_median_ms = 0;
  double worst_cpu_ms = 0;
  double bytes_max = 0;
};

// A clock that makes every cached page stale.
class HastyClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override { return TimePoint(std::chrono::hours(++calls_)); }
  [[nodiscard]] WallTime wall_now() const override { return SystemClock().wall_now(); }

 private:
  mutable std::atomic<int> calls_ = 0;
};

class Viewer {
 public:
  explicit Viewer(const db::Stores& stores)
      : site_({"Bench",
               stores,
               [] { return web::ShownRun{kRun, "A crowd", {}, 0, 1e9, 1000}; },
               [] { return web::ServerHealth{}; },
               {"starling://example.org:1/?ca=00", true},
               clock_}) {
    site_.add_routes(router_);
  }
  // The slowest board's median.
  Result<PageTimes> boards(const std::vector<std::pair<std::string, std::string>>& more) {
    PageTimes worst;
    for (const char* board : {"recent", "total", "run", "day", "week"}) {
      auto query = more;
      query.emplace_back("sort", board);
      STARLING_ASSIGN(const PageTimes times, look("/leaderboard", query));
      worst.worst_median_ms = std::max(worst.worst_median_ms, times.worst_median_ms);
      worst.worst_cpu_ms = std::max(worst.worst_cpu_ms, times.worst_cpu_ms);
      worst.bytes_max = std::max(worst.bytes_max, times.bytes_max);
    }
    return worst;
  }
  Result<PageTimes> look(const std::string& path, const std::vector<std::pair<std::string, std::string>>& query) {
    const SystemClock clock;
    std::vector<double> ms, cpu_ms;
    PageTimes times;
    for (int i = 0; i < kRepeats; ++i) {
      gate::Request request;
      request.method = "GET";
      request.path = path;
      request.query = query;
      std::string allowed;
      const TimePoint begin = clock.now();
      const double cpu_begin = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
      const gate::Response page = (*router_.find(request, allowed))(request);
      ms.push_back(to_seconds(clock.now() - begin) * 1e3);
      cpu_ms.push_back((cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - cpu_begin) * 1e3);
      if (page.status != 200) return Error{ErrorCode::internal, fmt::format("{} answered {}", path, page.status)};
      times.bytes_max = std::max(times.bytes_max, static_cast<double>(page.body.size()));
    }
    times.worst_median_ms = median(ms);
    times.worst_cpu_ms = median(cpu_ms);
    return times;
  }

 private:
  HastyClock clock_;
  web::Site site_;
  gate::Router router_;
};

// Counts neighbours in the wrong order on the whole recent board.
Result<double> out_of_order(const db::Stores& stores) {
  const WallTime now = SystemClock().wall_now();
  double wrong = 0;
  double above = INFINITY;
  for (std::int64_t offset = 0;; offset += db::kPageRowsMax) {
    STARLING_ASSIGN(const auto page, stores.credit.standings.page({.limit = db::kPageRowsMax, .offset = offset}));
    for (const db::Standing& row : page.rows) {
      const double value = db::decayed(row.recent, now);
      if (value > above * (1 + 1e-9)) ++wrong;
      above = value;
    }
    if (page.rows.size() < static_cast<std::size_t>(db::kPageRowsMax)) return wrong;
  }
}

}  // namespace

Result<BenchResult> run_leaderboard_bench(const LeaderboardOptions& options) {
  STARLING_ASSIGN(const auto crowd, Crowd::make(options));
  STARLING_TRY(crowd->credit_everybody());
  STARLING_TRY(crowd->roll());
  STARLING_ASSIGN(const double bytes_before, crowd->file_bytes());
  const double cpu_before = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
  STARLING_ASSIGN(const double seconds, crowd->fill());
  const double cpu = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_before;
  STARLING_TRY(crowd->roll());
  STARLING_ASSIGN(const double bytes_after, crowd->file_bytes());
  STARLING_TRY(crowd->stores().training.contributions.verify_totals());
  STARLING_ASSIGN(const double wrong, out_of_order(crowd->stores()));

  Viewer viewer(crowd->stores());
  const int pages = (options.volunteers + web::kRowsPerPage - 1) / web::kRowsPerPage;
  STARLING_ASSIGN(const auto last,
                  crowd->stores().credit.standings.page({.limit = 1, .offset = options.volunteers - 1}));
  const std::string last_name = last.rows.empty() ? "volunteer 0" : last.rows.front().display_name;
  STARLING_ASSIGN(const PageTimes first, viewer.boards({}));
  STARLING_ASSIGN(const PageTimes deep, viewer.boards({{"page", std::to_string(pages)}}));
  STARLING_ASSIGN(const PageTimes pinned, viewer.boards({{"me", last_name}}));
  STARLING_ASSIGN(const PageTimes search, viewer.boards({{"q", "volunteer"}}));
  STARLING_ASSIGN(const PageTimes run_page, viewer.look("/", {}));

  const std::int64_t rounds = options.lines / kRoundMembers;
  const auto lines = static_cast<double>(rounds * std::min(kRoundMembers, options.volunteers));
  BenchResult result;
  result.settings = {{"volunteers", std::to_string(options.volunteers)}, {"lines", std::to_string(options.lines)}};
  result.figures = {{"lines_per_s", lines / seconds},
                    {"cpu_us_per_line", cpu * 1e6 / lines},
                    {"worst_cpu_ms", std::max({first.worst_cpu_ms, deep.worst_cpu_ms, pinned.worst_cpu_ms,
                                               search.worst_cpu_ms, run_page.worst_cpu_ms})},
                    {"bytes_per_line", (bytes_after - bytes_before) / lines},
                    {"first_ms", first.worst_median_ms},
                    {"deep_ms", deep.worst_median_ms},
                    {"pinned_ms", pinned.worst_median_ms},
                    {"search_ms", search.worst_median_ms},
                    {"run_page_ms", run_page.worst_median_ms},
                    {"page_bytes", std::max({first.bytes_max, deep.bytes_max, pinned.bytes_max, search.bytes_max,
                                             run_page.bytes_max})},
                    {"out_of_order", wrong}};
  return result;
}

}  // namespace starling::bench
