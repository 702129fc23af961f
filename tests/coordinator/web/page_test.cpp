// Pages made from values.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "coordinator/web/chart.h"
#include "coordinator/web/compression.h"
#include "coordinator/web/credit_page.h"
#include "coordinator/web/day_chart.h"
#include "coordinator/web/form.h"
#include "coordinator/web/html.h"
#include "coordinator/web/leaderboard_page.h"
#include "coordinator/web/loss_curve.h"
#include "coordinator/web/page.h"
#include "coordinator/web/past_run_page.h"
#include "coordinator/web/qr_code.h"
#include "coordinator/web/scripts.h"
#include "coordinator/web/status_page.h"
#include "coordinator/web/swarm_charts.h"

namespace starling::web {
namespace {

constexpr WallTime kNow{1'718'000'000'000};
const std::string kAttack = "<script>alert(1)</script>\"'&<img src=x onerror=y>";

std::vector<db::Evaluation> evaluations(const std::vector<RoundIndex>& rounds) {
  std::vector<db::Evaluation> list;
  for (const RoundIndex round : rounds) {
    db::Evaluation evaluation;
    evaluation.round = round;
    evaluation.bits_per_byte = 8.0 - static_cast<double>(round) / 300;
    list.push_back(evaluation);
  }
  return list;
}

// Records newest first, one second apart.
std::vector<db::RoundRecord> rounds(int count, int groups = 1) {
  std::vector<db::RoundRecord> list;
  for (int i = (count * groups) - 1; i >= 0; --i) {
    db::RoundRecord record;
    record.round = i / groups;
    record.decided_at = {kNow.unix_ms + record.round * 1000};
    record.samples = 50;
    record.survivors = 3;
    list.push_back(record);
  }
  return list;
}

db::Standing standing(std::int64_t rank, const std::string& name, db::MicroCredit credit) {
  db::Standing row;
  row.rank = rank;
  row.holder_id = rank;
  row.display_name = name;
  row.last_contribution = {kNow.unix_ms - rank * 3'600'000};
  row.recent = {static_cast<double>(credit) / 1e7, kNow};
  row.earned(db::Board::total) = row.earned(db::Board::run) = {credit / 1000, credit};
  return row;
}

ShownRun sample_run() {
  ShownRun run{"fortunes", "A small model", {}, 2000, 1e9, 12'345};
  run.swarm.state = wire::RunState::running;
  run.swarm.round = 1234;
  run.swarm.samples_accumulated = 64;
  run.swarm.target_batch_size = 96;
  run.swarm.samples_per_s = 120.5;
  run.swarm.swarm_size = 3;
  run.swarm.ready = 2;
  return run;
}

RunPageData sample_page() {
  RunPageData data;
  data.project = "Poems";
  data.now = kNow;
  RunFigures& run = data.run.emplace();
  run.shown = sample_run();
  run.totals = {118'464, 200'000'000};
  run.volunteers = 2;
  run.top = {standing(1, "Ada", 170'000'000), standing(2, "Bob", 30'000'000)};
  run.evaluations = evaluations({0, 100, 1200});
  run.rounds = rounds(4);
  data.activity = {{5'000, 1}, 2, {}, 2};
  data.news = {{1, {kNow.unix_ms - 1000}, "A new run", "It is larger."}};
  data.join = {"starling://poems.example.org:7300/?ca=00ff", true};
  return data;
}

LeaderboardData sample_board() {
  LeaderboardData data{"Poems", "fortunes", {}, {}, kNow};
  data.standings.volunteers = 2;
  data.standings.rows = sample_page().run->top;
  return data;
}

bool has(const std::string& html, const std::string& text) { return html.find(text) != std::string::npos; }

// A page without the scripts that belong on it.
std::string without_own_scripts(std::string html) {
  const std::string own = script_tags();
  if (const std::size_t at = html.find(own); at != std::string::npos) html.erase(at, own.size());
  return html;
}

// Whether every tag that is opened is closed, in order; void elements and SVG leaves close themselves.
bool is_balanced(const std::string& html) {
  std::vector<std::string> open;
  for (std::size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
    const std::size_t end = html.find('>', at);
    if (end == std::string::npos) return false;
    std::string tag = html.substr(at + 1, end - at - 1);
    if (tag.front() == '!' || tag.back() == '/') continue;
    const bool closes = tag.front() == '/';
    if (closes) tag.erase(0, 1);
    const std::string name = tag.substr(0, tag.find_first_of(" \n"));
    if (name == "meta" || name == "link" || name == "input") continue;
    if (!closes) {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return false;
    } else {
      open.pop_back();
    }
  }
  return open.empty();
}

}  // namespace

TEST_CASE("the first page shows the run, its figures, how to join, news and who gives most") {
  const std::string html = render_run_page(sample_page());
  for (const char* text : {"Poems", "A small model", "12,345 parameters", "Round 1,234", "of 2,000", "training",
                           "64 of 96 samples", "4.000", "8.000", "118,464", "2 volunteers", "about 10 min", "5,000",
                           "href=\"starling://poems.example.org:7300/?ca=00ff\"", "A new run", "It is larger."}) {
    CAPTURE(text);
    CHECK(has(html, text));
  }
  CHECK(html.find("Ada") < html.find("Bob"));
  CHECK(is_balanced(html));
}

TEST_CASE("a run in epochs says which, and how much of it is accepted, on every page and to programs") {
  RunPageData data = sample_page();
  CHECK_FALSE(has(render_run_page(data), ">Epoch"));
  StatusData status{"Poems", sample_run(), {}, {}, {}, {}, {}, {}, kNow};
  CHECK_FALSE(has(status_json(status), "epoch"));
  status.epochs = data.run->epochs = db::RunEpochs{2, db::EpochProgress{2, 8000, 2100}};
  const PastRunData past{"Poems", *data.run, kNow, "over", kNow, kNow};
  for (const std::string& html : {render_run_page(data), render_status_page(status), render_past_run(past)}) {
    CHECK(has(html, "<dt>Epoch</dt><dd>3<small>26.2 % of its 8,000 samples accepted</small></dd>"));
  }
  CHECK_FALSE(has(render_status_page(status), "Set aside"));
  CHECK(has(status_json(status),
            R"("epochs_complete":2,"samples_set_aside":0,"epoch":2,"epoch_samples":8000,"epoch_accepted":2100)"));
  status.epochs = db::RunEpochs{3, {}, 4};
  CHECK(has(render_status_page(status), "<dt>Set aside</dt><dd>4<small>samples that no computer could train on"));
  CHECK(has(render_status_page(status), "<dt>Epochs</dt><dd>3<small>passes over all of the data are complete"));
  CHECK(has(status_json(status), R"("epochs_complete":3,"samples_set_aside":4)"));
  CHECK_FALSE(has(status_json(status), "epoch_samples"));
}

TEST_CASE("nothing that people typed can become markup, on any page") {
  RunPageData run = sample_page();
  run.project = run.run->shown.title = run.run->top[0].display_name = run.news[0].title = run.news[0].body =
      run.join.link = kAttack;
  LeaderboardData board = sample_board();
  board.project = board.query.search = board.query.me = board.standings.rows[0].display_name = kAttack;
  board.standings.rows[1].team_id = 7;
  board.standings.rows[1].team_name = kAttack;
  StatusData status{kAttack, sample_run(), {}, {}, {}, {}, {}, {}, kNow};
  status.run->run_id = status.run->title = kAttack;
  status.run->swarm.cells = {{1}, 1, {{1, 1, 1, 1, 3}}, 3};
  status.parts_held = {{kAttack, status.run->swarm.cells.shares.front()}};
  const CreditPageData credit{kAttack, status.run, {}, 0, kNow};
  run.others = {{kAttack, kAttack, "over"}};
  const PastRunData past{kAttack, *run.run, kNow, "over", kNow, kNow};
  for (const std::string& html :
       {render_run_page(run), render_leaderboard(board), render_status_page(status), render_credit_page(credit),
        render_past_run(past), with_notice(render_run_page(run), kAttack)}) {
    CHECK_FALSE(has(without_own_scripts(html), "<script"));
    CHECK_FALSE(has(html, "<img"));
    CHECK(has(html, "&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;"));
    CHECK(is_balanced(html));
  }
}

TEST_CASE("what people typed is plain on a page, and in a form but for passwords") {
  CHECK(escape("a\x1b[2J\u009b\u202e\xff<b>\nc") == "a?[2J??&lt;b&gt;\nc");
  const Form form("a=x%1B%0D%0Ay%E2%80%AE%FF");
  CHECK(form.value("a") == "x?  y?");
  CHECK(form.lines("a") == "x?\ny?");
  CHECK(form.exact("a") == "x\x1b\r\ny\u202e\xff");
}

TEST_CASE("a join link that anybody may use is there for cameras, too") {
  RunPageData data = sample_page();
  data.join = {"starling://example.org:7300/?ca=00", true};
  CHECK(has(render_run_page(data), "aria-label=\"The join link as a QR code\""));
  data.join.open_to_all = false;
  CHECK_FALSE(has(render_run_page(data), "QR code"));
  CHECK(qr_code(std::string(3000, 'a'), "too much").empty());
  // Version 1: 21 modules and the margins; the first row begins with a finder's seven.
  const std::string smallest = qr_code("poems", "<a>");
  CHECK(has(smallest, "viewBox=\"0 0 29 29\""));
  CHECK(has(smallest, "d=\"M4 4h7v1h-7z"));
  CHECK(has(smallest, "&lt;a&gt;"));
}

TEST_CASE("the status page says who holds a model that is cut, and what lacks holders") {
  StatusData status{"Poems", sample_run(), {}, {}, {}, {}, {}, {}, kNow};
  status.health.started = {kNow.unix_ms - 100'000};
  CHECK_FALSE(has(render_status_page(status), "Who holds the model"));
  core::CellCover& cells = status.run->swarm.cells;
  cells = {{2, 1, 2, 0}, 2, {{1, 2, 3, 1, 1250}, {2, 1, 2, 0, 0}}, 1250};
  status.parts_held = {{"Ada", cells.shares[0]}};
  const std::string html = render_status_page(status);
  CHECK(has(html, "2 held by 2 computers or more, 1 by nobody"));
  CHECK(has(html, "<dt>Calls answered</dt><dd>1,250<small>12.5 a second"));
  CHECK(has(html, "With fewer than 2 computers: part 1, 3."));
  CHECK(has(html, "<th scope=\"row\">Ada</th><td>3</td><td>1</td><td>1,250</td>"));
  CHECK(has(html, "And 1 more."));
  CHECK(has(status_json(status),
            R"("calls_answered":1250,"cell_shares":[{"name":"Ada","computers":2,"cells":3,"alone":1,"calls":1250}])"));
  cells.holders.assign(30, 1);
  CHECK(has(render_status_page(status), "17, 18, 19 and 10 more."));
}

TEST_CASE("who thinks of joining is told what an hour costs, once somebody trains") {
  RunPageData data = sample_page();
  data.run->shown.bytes_per_hour = 4.2e9;
  CHECK(render_run_page(data).find("an hour of training sends about 4,200 MB") != std::string::npos);
  data.run->shown.bytes_per_hour = 0;
  CHECK(render_run_page(data).find("an hour of training") == std::string::npos);
}

TEST_CASE("a project without a run, and a run without volunteers, have a page too") {
  RunPageData data = sample_page();
  data.run->top.clear();
  data.run->evaluations.clear();
  data.run->volunteers = 0;
  data.run->shown.swarm = {};
  data.join.open_to_all = false;
  std::string html = render_run_page(data);
  CHECK(has(html, "Nobody has contributed yet"));
  CHECK(has(html, "not measured yet"));
  CHECK(has(html, "not started yet"));
  CHECK(has(html, "by invitation"));
  CHECK(is_balanced(html));
  data.run.reset();
  html = render_run_page(data);
  CHECK(has(html, "Nothing to train at the moment"));
  CHECK(is_balanced(html));
}

TEST_CASE("many volunteers are shown a page at a time, and links keep what was asked for") {
  LeaderboardData data = sample_board();
  data.standings.volunteers = 120;
  data.query = {db::Holder::volunteer, db::Board::total, 2, kRowsPerPage, "", "Ada & Bob"};
  const std::string html = render_leaderboard(data);
  CHECK(has(html, "Page 2 of 3"));
  CHECK(has(html, "rel=\"prev\" href=\"/leaderboard?sort=total&amp;me=Ada%20%26%20Bob\""));
  CHECK(has(html, "rel=\"next\" href=\"/leaderboard?sort=total&amp;me=Ada%20%26%20Bob&amp;page=3\""));
  CHECK(has(html, "class=\"k on\" aria-sort=\"descending\""));
  CHECK(is_balanced(html));
}

TEST_CASE("a full page of the longest names is below 100 KB, with all that it loads") {
  LeaderboardData data = sample_board();
  data.standings.rows.assign(kRowsPerPage, standing(1'000'000, std::string(64, '&'), 999'999'999'999'999));
  data.query.search = std::string(kSearchBytesMax, '"');
  for (db::Standing& row : data.standings.rows) {
    row.team_id = 1'000'000;
    row.team_name = std::string(64, '&');
  }
  CHECK(render_leaderboard(data).size() <= 100'000);
  RunPageData run = sample_page();
  run.run->top.assign(10, data.standings.rows[0]);
  run.news.assign(5, {1, kNow, std::string(120, '&'), std::string(4000, 'x')});
  std::vector<RoundIndex> of_rounds;
  for (RoundIndex round = 0; round < 1000; ++round) of_rounds.push_back(round * 1'000'003);
  run.run->evaluations = evaluations(of_rounds);
  run.run->rounds = rounds(db::kPageRowsMax);
  const std::string html = render_run_page(run);
  CHECK(html.size() <= 100'000);
  std::size_t transferred = compressed({.body = html}).body.size();
  for (const Script& script : scripts()) transferred += script.gzipped.size();
  CHECK(transferred <= 100'000);
}

TEST_CASE("a spreadsheet takes no name for a formula") {
  LeaderboardData data = sample_board();
  data.standings.rows[0].display_name = "=1+1";
  data.standings.rows[1].display_name = "say \"hi\", Bob";
  const std::string csv = leaderboard_csv(data);
  CHECK(has(csv, "\r\n1,\"'=1+1\",17.000000,"));
  CHECK(has(csv, "\r\n2,\"say \"\"hi\"\", Bob\","));
}

TEST_CASE("axes have round numbers that hold every value") {
  for (const auto& range : std::vector<std::pair<double, double>>{{4.0, 8.0}, {1.234, 1.241}, {0, 1}, {3, 3}}) {
    const double low = range.first;
    const double high = range.second;
    CAPTURE(low);
    const Axis axis = axis_for(low, high, 5);
    CHECK(axis.first <= low);
    CHECK(axis.last() >= high);
    CHECK(axis.count >= 2);
    CHECK(axis.count <= 7);
  }
  CHECK(axis_for(4.0, 8.0, 5).step == 1.0);
}

TEST_CASE("a curve needs two points, and has the figures for the script that draws it anew") {
  CHECK(loss_curve(evaluations({5})).empty());
  CHECK(loss_curve(evaluations({5, 5})).empty());
  CHECK(has(loss_curve(evaluations({0, 300})), "from 8.000 at round 0 to 7.000 at round 300"));
  CHECK(has(loss_curve(evaluations({0, 300})), "data-points=\"0 8.0000,300 7.0000\""));
  CHECK(spread(10, 4) == std::vector<std::size_t>{0, 3, 6, 9});
  CHECK(spread(3, 50) == std::vector<std::size_t>{0, 1, 2});
}

TEST_CASE("speed is of all groups, over the time since the round before") {
  CHECK(swarm_charts(rounds(2)).empty());
  const std::string html = swarm_charts(rounds(4, 2));
  CHECK(has(html, "data-y=\"samples a second\" data-places=\"0\" data-zero data-points=\"1 100,2 100,3 100\""));
  CHECK(has(html, "data-points=\"1 6.00,2 6.00,3 6.00\""));
  CHECK(has(html, "Computers in a round from round 1 to round 3: 6.00 at the end, 6.00 at most"));
  CHECK(is_balanced(html));
  auto pause = rounds(4);
  for (auto& round : pause) round.decided_at = kNow;  // a clock that was set back
  CHECK_FALSE(has(swarm_charts(pause), "samples a second"));
}

TEST_CASE("many rounds become few points that lose none of the samples") {
  const std::string html = swarm_charts(rounds(1000));
  CHECK(has(html, ",999 50.0\""));
  CHECK_FALSE(has(html, "49.9"));
  const std::size_t begin = html.find("data-points=");
  const std::string points = html.substr(begin, html.find('>', begin) - begin);
  CHECK(std::count(points.begin(), points.end(), ',') == kSwarmPointsMax - 1);
}

TEST_CASE("days without credit are days, too") {
  const std::int64_t today = kNow.unix_ms / 86'400'000;
  CHECK(day_chart({}, 3, kNow).empty());
  const std::string html = day_chart({{today - 2, {1, 5'000'000}}, {today - 9, {1, 1'000'000}}}, 3, kNow);
  CHECK(has(html, fmt::format("data-points=\"{} 5.00,{} 0.00,{} 0.00\"", today - 2, today - 1, today)));
  CHECK(has(html, "5.00 credit in the last 3 days, 5.00 on the best of them"));
  CHECK(is_balanced(html));
}

TEST_CASE("time left is told only where there is an end and a speed") {
  ShownRun run = sample_run();
  CHECK(seconds_left(run).value() == doctest::Approx((766 * 96 - 64) / 120.5));
  run.swarm.samples_per_s = 0;
  CHECK_FALSE(seconds_left(run).has_value());
  run = sample_run();
  run.rounds_max = 0;
  CHECK_FALSE(seconds_left(run).has_value());
}

TEST_CASE("figures are written for people") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1'000) == "1,000");
  CHECK(grouped(-1'234'567) == "-1,234,567");
  CHECK(short_number(0) == "0");
  CHECK(short_number(0.01234) == "0.012");
  CHECK(short_number(1.239) == "1.24");
  CHECK(short_number(12.34) == "12.3");
  CHECK(short_number(123.4) == "123");
  CHECK(short_number(12345.6) == "12,346");
  CHECK(ago({0}, {59'000}) == "just now");
  CHECK(ago({0}, {61'000}) == "1 min ago");
  CHECK(ago({0}, {3 * 86'400'000LL}) == "3 days ago");
  CHECK(utc({1'718'000'000'000}) == "2024-06-10 06:13 UTC");
  CHECK(duration_text(40) == "40 s");
  CHECK(duration_text(3 * 86'400) == "3 days");
  // echo -n abc | openssl dgst -sha256 -binary | base64
  CHECK(csp_hash("abc") == "'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0='");
}

}  // namespace starling::web
