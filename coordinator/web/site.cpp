#include "coordinator/web/site.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <exception>

#include "coordinator/operations/prospects.h"
#include "coordinator/web/compression.h"
#include "coordinator/web/credit_page.h"
#include "coordinator/web/html.h"
#include "coordinator/web/page.h"
#include "coordinator/web/past_run_page.h"
#include "coordinator/web/profiles.h"
#include "coordinator/web/responses.h"
#include "coordinator/web/scripts.h"
#include "coordinator/web/stats_files.h"
#include "coordinator/web/stats_page.h"
#include "shared/base/short_text.h"

namespace starling::web {
namespace {

constexpr int kPagesMax = 100'000;
constexpr int kTopRows = 10;
constexpr int kNewsShown = 5;
constexpr std::size_t kPartsHeldShown = 20;
constexpr std::size_t kOtherRunsShown = 20;

int number_in(std::string_view text, int otherwise, int most) {
  int number = otherwise;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::clamp(number, 1, most) : otherwise;
}

LeaderboardQuery query_of(const gate::Request& request) {
  LeaderboardQuery query;
  query.of = holder_named(request.parameter("of"));
  query.board = leaderboard::board_named(request.parameter("sort"));
  query.page = number_in(request.parameter("page"), 1, kPagesMax);
  query.search = cut_text(request.parameter("q"), kSearchBytesMax);
  query.me = cut_text(request.parameter("me"), kSearchBytesMax);
  return query;
}

gate::Response unavailable(std::string_view why) {
  gate::Response response = response_of(
      kHtmlType,
      fmt::format("<!doctype html>\n<html lang=\"en\"><title>Please come back</title><p>{} Please come back in a "
                  "minute.</p></html>\n",
                  why));
  response.status = 503;
  response.headers.emplace_back("Retry-After", "5");
  return response;
}

// The evaluations oldest first, with the run's very first one even when the run is longer than the list.
std::vector<db::Evaluation> curve_of(std::vector<db::Evaluation> newest_first,
                                     const std::optional<db::Evaluation>& first) {
  std::reverse(newest_first.begin(), newest_first.end());
  if (first && !newest_first.empty() && first->round < newest_first.front().round) {
    newest_first.insert(newest_first.begin(), *first);
  }
  return newest_first;
}

}  // namespace

void Site::add_routes(gate::Router& router) {
  const auto add = [&](const char* path, const Make& make) {
    router.add("GET", path, [this, path, make](const gate::Request& request) { return shared(request, path, make); });
  };
  const Make run_page = [this] { return this->run_page(); };
  add("/", run_page);
  add("/v1/leaderboard", run_page);
  add("/credit", [this] { return credit_page(); });
  add("/status", [this] { return response_of(kHtmlType, render_status_page(status())); });
  add("/status.json", [this] { return response_of(kJsonType, status_json(status())); });
  add("/swarm.json",
      [this] { return response_of(kJsonType, operations::write_swarm(swarm::host_kinds(parts_.hosts()))); });
  const auto add_board = [&](const char* path, const char* content_type, Render render) {
    router.add("GET", path, [this, content_type, render](const gate::Request& request) {
      return leaderboard(request, content_type, render);
    });
  };
  add_board("/leaderboard", kHtmlType, render_leaderboard);
  add_board("/leaderboard.csv", kCsvType, leaderboard_csv);
  add_board("/v1/leaderboard.json", kJsonType, leaderboard_json);
  const auto add_profile = [&](const char* path,
                               Result<gate::Response> (*make)(const ProfileParts&, std::string_view)) {
    router.add_prefix("GET", path, [this, make](const gate::Request& request) {
      return alone(request, [&] { return make(profile_parts(), request.suffix); });
    });
  };
  add_profile("/volunteer/", volunteer_response);
  add_profile("/team/", team_response);
  add_profile("/certificate/", certificate_response);
  router.add_prefix("GET", "/run/", [this](const gate::Request& request) {
    return alone(request, [&] { return past_run(request.suffix); });
  });
  router.add("GET", "/certificate", [this](const gate::Request& request) {
    return alone(request, [&] { return certificate_check_response(profile_parts(), request.parameter("code")); });
  });
  const Make stats_page = [this] { return this->stats_page(); };
  add("/stats", stats_page);
  add("/stats/", stats_page);
  router.add_prefix("GET", "/stats/", [this](const gate::Request& request) {
    return stats_response(parts_.stats_folder, request.suffix);
  });
  router.add_prefix("GET", kScriptPrefix, [](const gate::Request& request) { return script_response(request.suffix); });
  router.add("GET", "/favicon.svg", [](const gate::Request&) { return response_of(kSvgType, std::string(favicon())); });
}

gate::Response Site::noticed(gate::Response response) const {
  if (parts_.maintenance == nullptr || response.content_type != kHtmlType) return response;
  if (const auto maintenance = parts_.maintenance->shown()) {
    response.body = with_notice(std::move(response.body), operations::notice_of(*maintenance));
  }
  return response;
}

gate::Response Site::answer(const Make& make) {
  std::string why;
  try {
    Result<gate::Response> made = make();
    if (made) return std::move(*made);
    why = made.error().message;
  } catch (const std::exception& failure) {
    why = failure.what();
  }
  failures_.error(parts_.clock.now(), "pages: " + why);
  return unavailable("The figures can not be read at the moment.");
}

// One thread makes the page; meanwhile the others get the previous one.
gate::Response Site::shared(const gate::Request& request, const std::string& key, const Make& make) {
  const TimePoint now = parts_.clock.now();
  const auto taken = [&](const Cached& kept) { return takes_gzip(request) ? kept.compressed : *kept.response; };
  {
    MutexLock lock(mutex_);
    Cached& kept = cache_[key];
    if (kept.response && (kept.under_way || now - kept.made < kFreshFor)) return taken(kept);
    kept.under_way = true;
  }
  gate::Response response = noticed(answer(make));
  gate::Response small = compressed(response);
  MutexLock lock(mutex_);
  Cached& kept = cache_[key];
  kept = {std::move(response), std::move(small), now, false};
  return taken(kept);
}

gate::Response Site::alone(const gate::Request& request, const Make& make) {
  if (private_pages_.fetch_add(1) >= kPrivatePagesMax) {
    private_pages_.fetch_sub(1);
    return unavailable("Too many people search at this moment.");
  }
  gate::Response response = noticed(answer(make));
  private_pages_.fetch_sub(1);
  return takes_gzip(request) && response.content_type != kPdfType ? compressed(std::move(response)) : response;
}

gate::Response Site::leaderboard(const gate::Request& request, std::string_view content_type, Render render) {
  LeaderboardQuery query = query_of(request);
  if (content_type != kHtmlType)
    query.per_page = number_in(request.parameter("per_page"), kRowsPerPage, db::kPageRowsMax);
  const Make make = [this, query, content_type, render]() -> Result<gate::Response> {
    LeaderboardData data{parts_.project, {}, query, {}, parts_.clock.wall_now()};
    if (const auto shown = parts_.shown_run()) data.run_id = shown->run_id;
    STARLING_ASSIGN(data.standings, parts_.stores.credit.standings.page(
                                        {.of = query.of,
                                         .board = query.board,
                                         .run_id = data.run_id,
                                         .limit = query.per_page,
                                         .offset = std::int64_t{query.page - 1} * query.per_page,
                                         .search = query.search,
                                         .pinned = query.of == db::Holder::volunteer ? query.me : std::string()}));
    return response_of(content_type, render(data));
  };
  const bool common = query.page == 1 && query.search.empty() && query.me.empty() && query.per_page == kRowsPerPage;
  return common ? shared(request,
                         fmt::format("{} {} {}", request.path, name_of(query.of),
                                     leaderboard::column_of(query.board).sort),
                         make)
                : alone(request, make);
}

ProfileParts Site::profile_parts() const {
  return {parts_.project, parts_.web_root, parts_.secret, parts_.stores, parts_.clock.wall_now()};
}

Result<gate::Response> Site::past_run(const RunId& run_id) const {
  const auto run = parts_.stores.training.runs.find(run_id);
  if (!run && run.error().code == ErrorCode::not_found) return nobody(profile_parts(), "run");
  if (!run) return run.error();
  STARLING_ASSIGN(const ShownRun shown, read_past_run(*run));
  PastRunData data{parts_.project, {}, run->created, state_text(*run), {}, parts_.clock.wall_now()};
  if (run->retired.unix_ms != 0) data.retired = run->retired;
  STARLING_ASSIGN(data.run, figures(shown, db::Board::run));
  return page_with_charts(render_past_run(data));
}

Result<std::vector<OtherRun>> Site::other_runs(const std::optional<ShownRun>& shown) const {
  STARLING_ASSIGN(const std::vector<db::Run> runs, parts_.stores.training.runs.list());
  std::vector<OtherRun> others;
  for (auto run = runs.rbegin(); run != runs.rend() && others.size() < kOtherRunsShown; ++run) {
    if (shown && shown->run_id == run->run_id) continue;
    const auto read = read_past_run(*run);
    others.push_back({run->run_id, read ? read->title : std::string(), state_text(*run)});
  }
  return others;
}

Result<RunFigures> Site::figures(const ShownRun& shown, db::Board board) const {
  const db::Stores& stores = parts_.stores;
  RunFigures run;
  run.shown = shown;
  STARLING_ASSIGN(const db::Credited credited, stores.credit.standings.credited(shown.run_id));
  run.totals = credited.totals;
  run.pending = credited.pending;
  STARLING_ASSIGN(const auto page,
                  stores.credit.standings.page({.board = board, .run_id = shown.run_id, .limit = kTopRows}));
  run.volunteers = page.volunteers;
  run.top = page.rows;
  STARLING_ASSIGN(auto evaluations, stores.training.evaluations.list(shown.run_id, {.limit = db::kPageRowsMax}));
  STARLING_ASSIGN(const auto first, stores.training.evaluations.first(shown.run_id));
  run.evaluations = curve_of(std::move(evaluations), first);
  STARLING_ASSIGN(run.epochs, db::run_epochs(stores.training.leases, shown.run_id));
  STARLING_ASSIGN(run.rounds, stores.training.runs.rounds(shown.run_id, {.limit = db::kPageRowsMax}));
  return run;
}

Result<gate::Response> Site::run_page() const {
  RunPageData data{parts_.project, {}, {}, {}, parts_.join, {}, parts_.clock.wall_now()};
  const auto shown = parts_.shown_run();
  if (shown) {
    STARLING_ASSIGN(data.run, figures(*shown, db::Board::recent));
  }
  STARLING_ASSIGN(data.others, other_runs(shown));
  STARLING_ASSIGN(data.activity, parts_.stores.credit.standings.activity());
  STARLING_ASSIGN(data.news, parts_.stores.operation.news.list(kNewsShown));
  return page_with_charts(render_run_page(data));
}

Result<gate::Response> Site::credit_page() const {
  CreditPageData data{parts_.project, parts_.shown_run(), {}, 0, parts_.clock.wall_now()};
  STARLING_ASSIGN(const db::Credited credited, parts_.stores.credit.standings.credited(""));
  data.totals = credited.totals;
  data.volunteers = credited.volunteers;
  data.pending = credited.pending;
  return response_of(kHtmlType, render_credit_page(data));
}

Result<gate::Response> Site::stats_page() const {
  StatsPageData data = read_stats_folder(parts_.stats_folder);
  data.project = parts_.project;
  data.now = parts_.clock.wall_now();
  return response_of(kHtmlType, render_stats_page(data));
}

// Leaves out whatever cannot be read: this page is for bad days.
StatusData Site::status() const {
  StatusData data{parts_.project, parts_.shown_run(), {}, {}, {}, parts_.health(), {}, {}, parts_.clock.wall_now()};
  data.statistics = read_stats_folder(parts_.stats_folder).made;
  if (parts_.maintenance != nullptr) data.maintenance = parts_.maintenance->shown();
  const auto activity = parts_.stores.credit.standings.activity();
  data.health.database_reads = activity.ok();
  if (activity) data.activity = *activity;
  if (!data.run) return data;
  if (auto epochs = db::run_epochs(parts_.stores.training.leases, data.run->run_id)) data.epochs = *epochs;
  const auto rounds = parts_.stores.training.runs.rounds(data.run->run_id, {.limit = 1});
  if (rounds && !rounds->empty()) data.last_round = rounds->front().decided_at;
  for (const core::CellShare& share : data.run->swarm.cells.shares) {
    if (data.parts_held.size() == kPartsHeldShown) break;
    const auto account = parts_.stores.people.accounts.find_account(share.account);
    if (account) data.parts_held.push_back({account->display_name, share});
  }
  return data;
}

}  // namespace starling::web
