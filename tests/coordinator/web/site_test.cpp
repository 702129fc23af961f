// The routes over a real database.
#include "coordinator/web/site.h"

#include <doctest/doctest.h>

#include <stdexcept>

#include "coordinator/web/html.h"
#include "coordinator/web/page.h"
#include "coordinator/web/scripts.h"
#include "db/stores/database.h"
#include "tests/coordinator/web/browser.h"
#include "tests/support/temp_dir.h"

namespace starling::web {
namespace {

using testing::Fields;
using testing::get_from;
using testing::has;
using testing::header_of;

class StillClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override { return now_; }
  [[nodiscard]] WallTime wall_now() const override { return {1'718'000'000'000}; }
  TimePoint now_{std::chrono::seconds(1)};
};

// A run with three volunteers in a real database.
struct Fixture {
  Fixture() {
    const db::Stores& stores = database->stores();
    db::Run run;
    run.run_id = "one";
    REQUIRE(stores.training.runs.create(run).ok());
    for (int i = 0; i < 3; ++i) {
      PeerId peer;
      peer.bytes[0] = static_cast<std::uint8_t>(i + 1);
      peers.push_back(peer);
      accounts.push_back(*stores.people.accounts.join({"volunteer " + std::to_string(i), peer, std::nullopt, {1}}));
    }
    credit(0, {10, 30, 20});
    site.add_routes(router);
  }
  void credit(RoundIndex round, const std::vector<SampleCount>& samples) {
    db::RoundResult result;
    result.record.run_id = "one";
    result.record.round = round;
    result.record.decided_at = {1'717'999'000'000};
    for (std::size_t i = 0; i < samples.size(); ++i) {
      result.contributions.push_back({peers[i], accounts[i], samples[i], 1'000'000 * samples[i], {1'717'999'000'000}});
    }
    REQUIRE(database->stores().training.contributions.append(result).ok());
  }
  gate::Response get(const std::string& path, const Fields& query = {}) { return get_from(router, path, query); }

  starling::testing::TempDir folder;
  std::unique_ptr<db::Database> database =
      db::Database::open(folder / "test.db", {.create = true, .ballast_bytes = 0}).value();
  StillClock clock;
  std::vector<PeerId> peers;
  std::vector<AccountId> accounts;
  std::optional<ShownRun> shown = ShownRun{"one", "The one", {}, 0, 1e9, 1000};
  Site site{{"Poems",
             database->stores(),
             [this] { return shown; },
             [] { return ServerHealth{{1'717'990'000'000}}; },
             {"starling://example.org:7300/?ca=00", true},
             clock}};
  gate::Router router;
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "every page is strict about what a browser may do with it, and small") {
  const std::string strict = "default-src 'none'; style-src " + csp_hash(page_style()) +
                             "; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
  for (const std::string path : {"/", "/v1/leaderboard", "/volunteer/1", "/leaderboard", "/credit", "/status"}) {
    CAPTURE(path);
    const gate::Response page = get(path);
    CHECK(page.status == 200);
    const bool charts = path == "/" || path == "/v1/leaderboard" || path == "/volunteer/1";
    CHECK(header_of(page, "Content-Security-Policy") == strict + (charts ? "; script-src 'self'" : ""));
    CHECK(header_of(page, "X-Content-Type-Options") == "nosniff");
    CHECK(has(page, "<style>" + std::string(page_style()) + "</style>"));
    // Scripts are files of this server, or there are none; the page itself contains none.
    CHECK(has(page, script_tags()) == charts);
    std::string rest = page.body;
    if (charts) rest.erase(rest.find(script_tags()), script_tags().size());
    CHECK(rest.find("<script") == std::string::npos);
    CHECK_FALSE(has(page, "style=\""));  // the policy would not allow it
    CHECK(page.body.size() <= 100'000);
  }
  CHECK(get("/favicon.svg").content_type == "image/svg+xml");
}

TEST_CASE_FIXTURE(Fixture, "scripts are sent small and kept for good, and nothing else is at their address") {
  REQUIRE(scripts().size() == 2);
  for (const Script& script : scripts()) {
    const gate::Response file = get(kScriptPrefix + std::string(script.name));
    CHECK(file.status == 200);
    CHECK(file.content_type == "text/javascript; charset=utf-8");
    CHECK(header_of(file, "Content-Encoding") == "gzip");
    CHECK(header_of(file, "Cache-Control") == "public, max-age=31536000, immutable");
    CHECK(header_of(file, "X-Content-Type-Options") == "nosniff");
    CHECK(file.body.starts_with("\x1f\x8b"));
  }
  for (const char* other : {"charts.js", "charts-0000000000000000.js", "..", "dygraph"}) {
    CHECK(get(kScriptPrefix + std::string(other)).status == 404);
  }
}

TEST_CASE_FIXTURE(Fixture, "pages are compressed for those who take that") {
  const auto get_as = [&](const std::string& path, const std::string& encodings) {
    gate::Request request;
    request.method = "GET";
    request.path = path;
    request.headers = {{"Accept-Encoding", encodings}};
    std::string allowed;
    return (*router.find(request, allowed))(request);
  };
  for (const std::string path : {"/", "/leaderboard", "/volunteer/1"}) {
    CAPTURE(path);
    for (const std::string encodings : {"gzip", "br, gzip;q=0.5", "deflate , gzip ; q=1, *"}) {
      CAPTURE(encodings);
      const gate::Response small = get_as(path, encodings);
      CHECK(header_of(small, "Content-Encoding") == "gzip");
      CHECK(header_of(small, "Vary") == "Accept-Encoding");
      CHECK(small.body.starts_with("\x1f\x8b"));
      CHECK(small.body.size() < 10'000);
    }
    for (const std::string encodings : {"", "br", "gzip;q=0", "gzip; q=0.0", "xgzip", "identity"}) {
      CAPTURE(encodings);
      const gate::Response plain = get_as(path, encodings);
      CHECK(header_of(plain, "Content-Encoding").empty());
      CHECK(header_of(plain, "Vary") == "Accept-Encoding");
      CHECK(has(plain, "</html>"));
    }
  }
  CHECK(header_of(get_as("/swarm.json", "gzip"), "Content-Encoding").empty());  // too short
}

TEST_CASE_FIXTURE(Fixture, "the leaderboard is the ledger's, in the order asked for") {
  const gate::Response page = get("/leaderboard", {{"sort", "total"}});
  CHECK(page.body.find("volunteer 1") < page.body.find("volunteer 2"));
  CHECK(page.body.find("volunteer 2") < page.body.find("volunteer 0"));
  CHECK(has(page, "3 volunteers, by total credit"));
  CHECK(has(get("/leaderboard", {{"sort", "day"}}), "Nobody has contributed in this time or run."));
  const gate::Response odd = get("/leaderboard", {{"sort", "<b>"}});  // an unknown order falls back to the usual one
  CHECK(has(odd, "by recent average"));
}

TEST_CASE_FIXTURE(Fixture, "a page is made once a second, however many look") {
  const std::string before = get("/leaderboard").body;
  credit(1, {1000, 0, 0});
  CHECK(get("/leaderboard").body == before);
  clock.now_ += Site::kFreshFor;
  const std::string after = get("/leaderboard").body;
  CHECK(after.find("volunteer 0") < after.find("volunteer 1"));
}

TEST_CASE_FIXTURE(Fixture, "people are found, and one's own row is pinned on every page") {
  const gate::Response found = get("/leaderboard", {{"q", "EER 2"}});
  CHECK(has(found, "<bdi>volunteer 2</bdi>"));
  CHECK_FALSE(has(found, "<bdi>volunteer 1</bdi>"));
  CHECK(has(found, "me=volunteer%202"));
  const gate::Response mine = get("/leaderboard", {{"me", "volunteer 0"}, {"page", "7"}});
  CHECK(has(mine, "<bdi>volunteer 0</bdi>"));
  CHECK(has(mine, "<tr class=\"own\"><td>3</td>"));
  CHECK(has(mine, "sort=total&amp;me=volunteer%200"));
  CHECK(has(get("/leaderboard", {{"me", "Nobody"}}), "There is no volunteer \"Nobody\""));
  CHECK(has(get("/leaderboard", {{"q", "zzz"}}), "Nobody's name contains \"zzz\"."));
}

TEST_CASE_FIXTURE(Fixture, "nothing that a link carries can become markup") {
  const std::string attack = "\"><script>alert(1)</script>'";
  for (const char* name : {"q", "me", "sort", "page"}) {
    CAPTURE(name);
    const gate::Response page = get("/leaderboard", {{name, attack}});
    CHECK(page.status == 200);
    CHECK_FALSE(has(page, "<script"));
    CHECK_FALSE(has(page, "\">alert"));
  }
}

TEST_CASE_FIXTURE(Fixture, "SQL and patterns in what a link carries find nobody, and change nothing") {
  for (const char* text : {"' OR '1'='1", "'; DELETE FROM account; --", "%", "_", "*", "\\"}) {
    CAPTURE(text);
    for (const char* of : {"volunteers", "teams", "computers"}) {
      for (const char* sort : {"recent", "total", "run", "day", "week"}) {
        const gate::Response page = get("/leaderboard", {{"of", of}, {"sort", sort}, {"q", text}, {"me", text}});
        CHECK(page.status == 200);
        CHECK_FALSE(has(page, "<bdi>volunteer"));
      }
    }
    CHECK(get("/leaderboard", {{"of", text}, {"sort", text}, {"page", text}}).status == 200);
    for (const char* path : {"/volunteer/", "/team/", "/certificate/", "/run/"}) {
      CHECK(get(path + std::string("1 OR 1=1")).status == 404);
      CHECK(get(path + std::string(text)).status == 404);
    }
    CHECK(get("/certificate", {{"code", text}}).status == 200);
  }
  CHECK(has(get("/leaderboard"), "<bdi>volunteer 1</bdi>"));
}

TEST_CASE_FIXTURE(Fixture, "a page number that makes no sense shows a page all the same") {
  for (const char* number : {"0", "-1", "abc", "99999999999999999999", "2", "1x"}) {
    CAPTURE(number);
    CHECK(get("/leaderboard", {{"page", number}}).status == 200);
  }
  CHECK(has(get("/leaderboard", {{"page", "2"}}), "Nobody is on this page"));
}

TEST_CASE_FIXTURE(Fixture, "the same figures as JSON and CSV") {
  const gate::Response json = get("/v1/leaderboard.json", {{"sort", "total"}, {"me", "volunteer 0"}});
  CHECK(json.content_type == "application/json");
  CHECK(has(json, R"("rows":[{"rank":1,"name":"volunteer 1",)"));
  CHECK(has(json, R"("credit":30)"));
  CHECK(has(json, R"("pinned":{"rank":3,"name":"volunteer 0",)"));
  const gate::Response csv = get("/leaderboard.csv", {{"sort", "total"}, {"per_page", "2"}});
  CHECK(csv.content_type == "text/csv; charset=utf-8");
  CHECK(has(csv, "\r\n1,\"volunteer 1\","));
  CHECK(has(csv, ",30.000000,30,30.000000,30,"));
  CHECK_FALSE(has(csv, "volunteer 0"));
}

TEST_CASE_FIXTURE(Fixture, "news appear on the first page, newest first") {
  REQUIRE(database->stores().operation.news.add({0, {1'717'000'000'000}, "Hello", "First\n\nSecond <b>"}).ok());
  const auto id = database->stores().operation.news.add({0, {1'717'500'000'000}, "Later", ""});
  const gate::Response page = get("/");
  CHECK(has(page, "<p>First</p>\n<p>Second &lt;b&gt;</p>"));
  CHECK(page.body.find("Later") < page.body.find("Hello"));
  REQUIRE(database->stores().operation.news.remove(*id).ok());
  CHECK(database->stores().operation.news.remove(*id).error().code == ErrorCode::not_found);
}

TEST_CASE_FIXTURE(Fixture, "without a run there are pages, too") {
  shown.reset();
  CHECK(has(get("/"), "Nothing to train at the moment"));
  CHECK(get("/leaderboard").status == 200);
  CHECK(get("/credit").status == 200);
  CHECK(has(get("/status"), "there is no run yet"));
  CHECK_FALSE(has(get("/status.json"), "\"run\""));
}

TEST_CASE_FIXTURE(Fixture, "the page of statistics files is there before any are") {
  for (const char* path : {"/stats", "/stats/"}) {
    const gate::Response page = get(path);
    CHECK(page.status == 200);
    CHECK(has(page, "None yet"));
    CHECK(has(page, "expavg_time"));
  }
  CHECK(has(get("/credit"), "<a href=\"/stats/\">"));
}

TEST_CASE_FIXTURE(Fixture, "the status page says what the server knows of itself") {
  const gate::Response page = get("/status");
  CHECK(has(page, "up for 3 h"));
  CHECK(has(page, "16 min ago"));
  const gate::Response json = get("/status.json");
  CHECK(has(json, R"("uptime_s":10000)"));
  CHECK(has(json, R"("run_id":"one")"));
}

TEST_CASE_FIXTURE(Fixture, "the swarm is told in kinds of computers, and nobody by name") {
  CHECK(get("/swarm.json").body == R"({"hosts":[]})");
  gate::Router other;
  swarm::Host host;
  host.samples_per_s = 4;
  host.link = {1e6, 5e6, true};
  Site served{{"Poems",
               database->stores(),
               [&] { return shown; },
               [] { return ServerHealth{}; },
               {"starling://example.org:7300/?ca=00", true},
               clock,
               {},
               {},
               nullptr,
               {},
               [&] { return std::vector<swarm::Host>(3, host); }}};
  served.add_routes(other);
  CHECK(get_from(other, "/swarm.json").body ==
        R"({"hosts":[{"count":3,"samples_per_s":4,"upload_mbit_s":8,"download_mbit_s":40,"delay_ms":0,"jitter":0,)"
        R"("departures_per_h":0,"dialable":true}]})");
}

TEST_CASE_FIXTURE(Fixture, "a page that could not be made is tried again at the next look") {
  bool broken = true;
  gate::Router other;
  Site site_with_trouble{{"Poems",
                          database->stores(),
                          [&]() -> std::optional<ShownRun> {
                            if (broken) throw std::runtime_error("no memory");
                            return shown;
                          },
                          [] { return ServerHealth{}; },
                          {"starling://example.org:7300/?ca=00", true},
                          clock}};
  site_with_trouble.add_routes(other);
  const auto look = [&] {
    clock.now_ += Site::kFreshFor;
    gate::Request request;
    request.method = "GET";
    request.path = "/";
    std::string allowed;
    return (*other.find(request, allowed))(request).status;
  };
  CHECK(look() == 503);
  CHECK(look() == 503);
  broken = false;
  CHECK(look() == 200);
}

}  // namespace starling::web
