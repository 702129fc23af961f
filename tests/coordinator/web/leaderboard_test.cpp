#include "coordinator/web/leaderboard.h"

#include <doctest/doctest.h>

#include "coordinator/web/html.h"
#include "db/stores/database.h"
#include "tests/support/temp_dir.h"

namespace starling::web {
namespace {

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
    REQUIRE(stores.runs.create(run).ok());
    for (int i = 0; i < 3; ++i) {
      PeerId peer;
      peer.bytes[0] = static_cast<std::uint8_t>(i + 1);
      peers.push_back(peer);
      accounts.push_back(*stores.accounts.join({"volunteer " + std::to_string(i), peer, std::nullopt, {1}}));
    }
    credit(0, {10, 30, 20});
    leaderboard.add_routes(router);
  }
  void credit(RoundIndex round, const std::vector<SampleCount>& samples) {
    db::RoundResult result;
    result.record.run_id = "one";
    result.record.round = round;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      result.contributions.push_back({peers[i], accounts[i], samples[i], 1000 * samples[i], {1'717'999'000'000}});
    }
    REQUIRE(database->stores().contributions.append(result).ok());
  }
  gate::Response get(const std::string& path, const std::string& page = "") {
    gate::Request request;
    request.method = "GET";
    request.path = path;
    if (!page.empty()) request.query = {{"page", page}};
    std::string allowed;
    return (*router.find(request, allowed))(request);
  }

  starling::testing::TempDir folder;
  std::unique_ptr<db::Database> database =
      db::Database::open(folder / "test.db", {.create = true, .ballast_bytes = 0}).value();
  StillClock clock;
  std::vector<PeerId> peers;
  std::vector<AccountId> accounts;
  std::optional<ShownRun> shown = ShownRun{"one", "The one", {}};
  Leaderboard leaderboard{{"Poems", database->stores(), [this] { return shown; }, clock}};
  gate::Router router;
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "the page is the ledger's, and strict about what a browser may do with it") {
  const gate::Response page = get("/");
  CHECK(page.status == 200);
  CHECK(page.body.find("volunteer 1") < page.body.find("volunteer 2"));
  CHECK(page.body.find("volunteer 2") < page.body.find("volunteer 0"));
  CHECK(page.body == get("/v1/leaderboard").body);
  std::string headers;
  for (const auto& [name, value] : page.headers) headers += name + ": " + value + "\n";
  CHECK(headers.find("default-src 'none'; style-src " + csp_hash(page_style())) != std::string::npos);
  CHECK(headers.find("X-Content-Type-Options: nosniff") != std::string::npos);
  CHECK(page.body.find("<style>" + std::string(page_style()) + "</style>") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "a page is made once a second, however many look") {
  const std::string before = get("/").body;
  credit(1, {100, 0, 0});
  CHECK(get("/").body == before);
  clock.now_ += Leaderboard::kFreshFor;
  CHECK(get("/").body.find("volunteer 0") < get("/").body.find("volunteer 1"));
}

TEST_CASE_FIXTURE(Fixture, "the same figures as JSON") {
  const gate::Response response = get("/v1/leaderboard.json");
  CHECK(response.content_type == "application/json");
  CHECK(response.body.find(R"("rows":[{"name":"volunteer 1","samples":30,"credit":0.03)") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "a page number that makes no sense shows a page all the same") {
  for (const char* number : {"0", "-1", "abc", "99999999999999999999", "2", "1x"}) {
    CAPTURE(number);
    CHECK(get("/", number).status == 200);
  }
  CHECK(get("/", "2").body.find("Nobody is on this page") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "without a run there is a page, too") {
  shown.reset();
  CHECK(get("/").body.find("Nothing to train yet") != std::string::npos);
  CHECK(get("/v1/leaderboard.json").body.find("\"rows\":[]") != std::string::npos);
}

}  // namespace starling::web
