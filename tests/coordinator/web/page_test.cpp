#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "coordinator/web/html.h"
#include "coordinator/web/leaderboard_page.h"

namespace starling::web {
namespace {

PageData sample_page() {
  PageData data;
  data.project = "Poems";
  data.now = {1'718'000'000'000};
  PageRun& run = data.run.emplace();
  run.run_id = "fortunes";
  run.title = "A small model";
  run.swarm.state = wire::RunState::running;
  run.swarm.round = 1234;
  run.swarm.samples_accumulated = 64;
  run.swarm.target_batch_size = 96;
  run.swarm.samples_per_s = 120.5;
  run.swarm.swarm_size = 3;
  run.swarm.ready = 2;
  run.totals = {118'464, 200'000'000};
  run.volunteers = 2;
  run.rows = {{1, "Ada", {100'000, 170'000'000}, {data.now.unix_ms - 1000}},
              {2, "Bob", {18'464, 30'000'000}, {data.now.unix_ms - 7'200'000}}};
  for (RoundIndex round : {0, 100, 1200}) {
    db::Evaluation evaluation;
    evaluation.round = round;
    evaluation.bits_per_byte = 8.0 - static_cast<double>(round) / 300;
    run.evaluations.push_back(evaluation);
  }
  return data;
}

bool has(const std::string& html, const std::string& text) { return html.find(text) != std::string::npos; }

// Every tag that is opened is closed, in order; void elements and SVG leaves close themselves.
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
    if (name == "meta") continue;
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

TEST_CASE("the page shows the run, the figures and the volunteers in order") {
  const std::string html = render_page(sample_page());
  for (const char* text : {"Poems", "A small model", "Round 1,234", "training", "64 of 96 samples", "4.000", "8.000",
                           "118,464", "2 volunteers", "just now", "2 h ago", "84.4 percent"}) {
    CAPTURE(text);
    CHECK(has(html, text));
  }
  CHECK(html.find("Ada") < html.find("Bob"));
  CHECK(is_balanced(html));
  CHECK_FALSE(has(html, "<script"));
}

TEST_CASE("nothing that people typed can become markup") {
  PageData data = sample_page();
  const std::string attack = "<script>alert(1)</script>\"'&<img src=x onerror=y>";
  data.project = data.run->title = data.run->rows[0].display_name = attack;
  const std::string html = render_page(data);
  CHECK_FALSE(has(html, "<script"));
  CHECK_FALSE(has(html, "<img"));
  CHECK(has(html, "&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;"));
  CHECK(is_balanced(html));
}

TEST_CASE("a project without a run, and a run without volunteers, have a page too") {
  PageData data = sample_page();
  data.run->rows.clear();
  data.run->evaluations.clear();
  data.run->volunteers = 0;
  data.run->swarm = {};
  std::string html = render_page(data);
  CHECK(has(html, "Nobody has contributed yet"));
  CHECK(has(html, "not measured yet"));
  CHECK(has(html, "not started yet"));
  CHECK(is_balanced(html));
  data.run.reset();
  html = render_page(data);
  CHECK(has(html, "Nothing to train yet"));
  CHECK(is_balanced(html));
}

TEST_CASE("many volunteers are shown a page at a time") {
  PageData data = sample_page();
  data.run->volunteers = 250;
  data.page = 2;
  const std::string html = render_page(data);
  CHECK(has(html, "Page 2 of 3"));
  CHECK(has(html, "href=\"/?page=1\""));
  CHECK(has(html, "href=\"/?page=3\""));
  CHECK(has(html, "<td>101</td>"));
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
  // echo -n abc | openssl dgst -sha256 -binary | base64
  CHECK(csp_hash("abc") == "'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0='");
}

}  // namespace starling::web
