#include "coordinator/web/leaderboard.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "coordinator/web/html.h"
#include "shared/base/log.h"
#include "shared/wire/json_writer.h"

namespace starling::web {
namespace {

constexpr int kPagesMax = 100'000;
constexpr std::size_t kCurvePointsMax = 240;

int page_number(const gate::Request& request) {
  const std::string_view text = request.parameter("page");
  int number = 1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::clamp(number, 1, kPagesMax) : 1;
}

// Newest first in, oldest first out, thinned evenly to what a curve can show; the ends stay.
std::vector<db::Evaluation> curve_of(std::vector<db::Evaluation> newest_first,
                                     const std::optional<db::Evaluation>& first) {
  std::reverse(newest_first.begin(), newest_first.end());
  if (first && !newest_first.empty() && first->round < newest_first.front().round) {
    newest_first.insert(newest_first.begin(), *first);
  }
  const std::size_t step = newest_first.size() / kCurvePointsMax + 1;
  std::vector<db::Evaluation> thinned;
  for (std::size_t i = 0; i < newest_first.size(); ++i) {
    if (i % step == 0 || i + 1 == newest_first.size()) thinned.push_back(newest_first[i]);
  }
  return thinned;
}

gate::Response html_response(std::string html) {
  static const std::string policy =
      fmt::format("default-src 'none'; style-src {}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
                  csp_hash(page_style()));
  gate::Response response;
  response.content_type = "text/html; charset=utf-8";
  response.body = std::move(html);
  response.headers = {{"Content-Security-Policy", policy},
                      {"X-Content-Type-Options", "nosniff"},
                      {"Referrer-Policy", "no-referrer"},
                      {"Cache-Control", "no-cache"}};
  return response;
}

gate::Response unavailable(const Error& error) {
  log_warning("leaderboard: {}", error.message);
  gate::Response response = html_response(
      "<!doctype html><title>Leaderboard</title><p>The figures can not be read at "
      "the moment. Please come back in a minute.</p>\n");
  response.status = 503;
  return response;
}

std::string encode(const PageData& data) {
  wire::JsonWriter writer;
  writer.open("", '{');
  writer.text("project", data.project);
  writer.text("run_id", data.run ? data.run->run_id : "");
  writer.integer("round", data.run ? data.run->swarm.round : 0);
  writer.integer("volunteers", data.run ? data.run->volunteers : 0);
  writer.open("rows", '[');
  for (const db::LeaderboardRow& row : data.run ? data.run->rows : std::vector<db::LeaderboardRow>()) {
    writer.open("", '{');
    writer.text("name", row.display_name);
    writer.integer("samples", row.totals.samples);
    writer.number("credit", static_cast<double>(row.totals.credit) / db::kMicroCreditsPerCredit);
    writer.integer("last_contribution_unix_ms", row.last_contribution.unix_ms);
    writer.close('}');
  }
  writer.close(']');
  writer.close('}');
  return std::move(writer.str());
}

}  // namespace

void Leaderboard::add_routes(gate::Router& router) {
  const auto show = [this](const gate::Request& request) {
    const int number = page_number(request);
    return number == 1 ? fresh(&Leaderboard::first_page_, &Leaderboard::first_page) : page(number);
  };
  router.add("GET", "/", show);
  router.add("GET", "/v1/leaderboard", show);
  router.add("GET", "/v1/leaderboard.json",
             [this](const gate::Request&) { return fresh(&Leaderboard::json_, &Leaderboard::json); });
}

// One thread makes the page, the others wait for it: that is what they came for.
gate::Response Leaderboard::fresh(Cached Leaderboard::*cached, gate::Response (Leaderboard::*make)()) {
  MutexLock lock(mutex_);
  Cached& kept = this->*cached;
  const TimePoint now = parts_.clock.now();
  if (!kept.response || now - kept.made >= kFreshFor) {
    kept.response = (this->*make)();
    kept.made = now;
  }
  return *kept.response;
}

gate::Response Leaderboard::page(int number) {
  const auto data = read(number, kRowsPerPage);
  return data ? html_response(render_page(*data)) : unavailable(data.error());
}

gate::Response Leaderboard::json() {
  const auto data = read(1, db::kPageRowsMax);
  if (!data) return unavailable(data.error());
  gate::Response response;
  response.body = encode(*data);
  response.headers = {{"X-Content-Type-Options", "nosniff"}, {"Cache-Control", "no-cache"}};
  return response;
}

Result<PageData> Leaderboard::read(int page, int rows) const {
  PageData data;
  data.project = parts_.project;
  data.page = page;
  data.now = parts_.clock.wall_now();
  const std::optional<ShownRun> shown = parts_.shown_run();
  if (!shown) return data;
  PageRun& run = data.run.emplace();
  run.run_id = shown->run_id;
  run.title = shown->title;
  run.swarm = shown->swarm;
  const db::Stores& stores = parts_.stores;
  STARLING_ASSIGN(run.totals, stores.leaderboard.totals(run.run_id));
  STARLING_ASSIGN(run.volunteers, stores.leaderboard.volunteers(run.run_id));
  STARLING_ASSIGN(run.rows, stores.leaderboard.rows(run.run_id, {rows, std::int64_t{page - 1} * rows}));
  STARLING_ASSIGN(auto evaluations, stores.evaluations.list(run.run_id, {.limit = db::kPageRowsMax}));
  STARLING_ASSIGN(const auto first, stores.evaluations.first(run.run_id));
  run.evaluations = curve_of(std::move(evaluations), first);
  return data;
}

}  // namespace starling::web
