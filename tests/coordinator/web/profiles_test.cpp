// Volunteers' and teams' pages, certificates, and boards of teams and computers, over a real database.
#include <doctest/doctest.h>

#include "coordinator/web/badges.h"
#include "coordinator/web/certificate.h"
#include "coordinator/web/certificate_pdf.h"
#include "coordinator/web/page.h"
#include "coordinator/web/scripts.h"
#include "coordinator/web/site.h"
#include "tests/coordinator/web/browser.h"

namespace starling::web::testing {
namespace {

constexpr std::int64_t kDay = 86'400'000;

struct Fixture {
  Fixture() {
    REQUIRE(pages.stores().training.runs.create({"one", "", db::RunState::running, {1}, 0}).ok());
    site.add_routes(router);
  }
  AccountId join(const std::string& name, std::uint8_t number) {
    PeerId peer;
    peer.bytes.fill(number);
    return pages.stores().people.accounts.join({name, peer, {}, {now().unix_ms - 40 * kDay}}).value();
  }
  void grant(AccountId account, std::uint8_t number, SampleCount samples, WallTime when) {
    db::RoundResult result;
    result.record.run_id = "one";
    result.record.round = round++;
    PeerId peer;
    peer.bytes.fill(number);
    result.contributions = {{peer, account, samples, 1'000'000 * samples, when}};
    result.wait = wait;
    if (wait > 0) result.final_below = round - wait;
    REQUIRE(pages.stores().training.contributions.append(result)->inserted == 1);
  }
  gate::Response get(const std::string& path, const Fields& query = {}) { return get_from(router, path, query); }
  [[nodiscard]] WallTime now() const { return pages.clock.wall_now(); }

  Pages pages;
  RoundIndex round = 0;
  RoundIndex wait = 0;  // rounds until credit is final
  Site site{{"Poems & more",
             pages.stores(),
             [] {
               return std::optional(ShownRun{"one", "The one", {}, 0, 1e9, 1000});
             },
             [] { return ServerHealth{}; },
             {"starling://example.org:7300/?ca=00", true},
             pages.clock,
             "https://poems.example",
             "secret"}};
  gate::Router router;
};

std::string page_of(const char* where, AccountId id) { return std::string(where) + std::to_string(id); }

// The text between `code=` and the end of the certificate's line with the code.
std::string code_on(const gate::Response& certificate) {
  const std::size_t end = certificate.body.find("</text>\n", certificate.body.find("monospace"));
  const std::size_t begin = certificate.body.rfind('>', end - 1) + 1;
  return certificate.body.substr(begin, end - begin);
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a volunteer's page shows what they gave, and neither computers nor address") {
  const AccountId ada = join("Ada", 0xab);
  for (int day = 0; day < 30; ++day) grant(ada, 0xab, 100 + day, {now().unix_ms - day * kDay});
  REQUIRE(pages.stores().people.teams.found(ada, "Swans <b>", now()).ok());
  const gate::Response page = get(page_of("/volunteer/", ada));
  CHECK(page.status == 200);
  CHECK(page.body.size() <= 100'000);
  CHECK(has(page, "<h1>Ada</h1>"));
  CHECK(has(page, "1,000 credits</b>"));
  CHECK(has(page, "Swans &lt;b&gt;"));
  CHECK(has(page, "class=\"bar\""));
  CHECK(has(page, "href=\"/certificate/" + std::to_string(ada)));
  CHECK_FALSE(has(page, "abab"));
  CHECK(has(page, script_tags()));
  CHECK(header_of(page, "Content-Security-Policy") == chart_policy());
}

TEST_CASE_FIXTURE(Fixture, "a volunteer's page says what was claimed and not confirmed, and only then") {
  const AccountId ada = join("Ada", 0xab);
  CHECK_FALSE(has(get(page_of("/volunteer/", ada)), "Not confirmed"));
  PeerId peer;
  peer.bytes.fill(0xab);
  for (RoundIndex at = 0; at < 2; ++at) {
    REQUIRE(pages.stores().credit.claims.add({"one", at, peer, ada, 1200, now()}).ok());
  }
  CHECK(has(get(page_of("/volunteer/", ada)), "2,400 samples in 2 rounds of the last 90 days"));
}

TEST_CASE_FIXTURE(Fixture, "whoever is not there, waits or has left has no page") {
  const AccountId ada = join("Ada", 1);
  const AccountId waiting =
      pages.stores().people.logins.sign_up({"Ben", "", "x", {}, db::AccountState::waiting, now()}).value();
  for (const std::string path : {"/volunteer/0", "/volunteer/999", "/volunteer/x", "/volunteer/1x", "/team/1",
                                 "/team/-1", "/certificate/77", "/volunteer/99999999999999999999"}) {
    CAPTURE(path);
    CHECK(get(path).status == 404);
  }
  CHECK(get(page_of("/volunteer/", waiting)).status == 404);
  CHECK(get(page_of("/volunteer/", ada)).status == 200);
  REQUIRE(pages.stores().people.keeper.erase(ada, now()).ok());
  CHECK(get(page_of("/volunteer/", ada)).status == 404);
  CHECK(get(page_of("/certificate/", ada)).status == 404);
}

TEST_CASE_FIXTURE(Fixture, "credit that is not final counts on pages, which say so, and on no certificate") {
  const AccountId ada = join("Ada", 1);
  wait = 2;
  grant(ada, 1, 500, now());
  gate::Response page = get(page_of("/volunteer/", ada));
  CHECK(has(page, "500<small>rank 1; 500 <a href=\"/credit#pending\">pending</a>"));
  CHECK(has(page, "500 <small>(500 pending)</small>"));
  CHECK_FALSE(has(page, "href=\"/certificate/"));
  grant(ada, 1, 40, now());
  grant(ada, 1, 3, now());
  page = get(page_of("/volunteer/", ada));
  CHECK(has(page, "543 <small>(43.0 pending)</small>"));
  CHECK(has(page, "href=\"/certificate/"));
  const gate::Response certificate = get(page_of("/certificate/", ada));
  CHECK(has(certificate, "500 credit"));
  CHECK(has(certificate, "500 samples accepted"));
  CHECK(has(certificate, "not final yet"));
  CHECK(has(get("/certificate", {{"code", code_on(certificate)}}), "had 500 final credit for 500 accepted samples"));
  CHECK(has(get("/credit"), "43.0 of it pending"));
  CHECK(has(get("/"), "543 credit; 43.0 <a"));
  CHECK(has(get("/leaderboard"), "Credit counts here at once"));
  REQUIRE(pages.stores().training.runs.retire("one", now()).ok());
  CHECK_FALSE(has(get(page_of("/volunteer/", ada)), "pending"));
  CHECK_FALSE(has(get(page_of("/certificate/", ada)), "not final yet"));
}

TEST_CASE_FIXTURE(Fixture, "a certificate is printed as PDF, whatever letters a name has, with the same code") {
  const AccountId ada = join("Åda 陳 Ωμέγα", 1);
  grant(ada, 1, 1234, now());
  const gate::Response pdf = get(page_of("/certificate/", ada) + ".pdf");
  CHECK(pdf.status == 200);
  CHECK(pdf.content_type == "application/pdf");
  CHECK(pdf.body.starts_with("%PDF-"));
  CHECK(pdf.body.size() < 200'000);
  CHECK(has(pdf, code_on(get(page_of("/certificate/", ada)))));
  for (const char* wrong : {"/certificate/77.pdf", "/certificate/.pdf", "/certificate/1.pdf.pdf"}) {
    CHECK(get(wrong).status == 404);
  }
  CHECK_FALSE(pdf_of("<svg", {"", ""}).ok());
}

TEST_CASE_FIXTURE(Fixture, "a certificate says what was given, and its code proves it") {
  const AccountId ada = join("Ada <&>", 1);
  grant(ada, 1, 1234, now());
  const gate::Response certificate = get(page_of("/certificate/", ada));
  CHECK(certificate.status == 200);
  CHECK(certificate.content_type == "image/svg+xml");
  CHECK(has(certificate, "Ada &lt;&amp;&gt;"));
  CHECK(has(certificate, "1,234 credit"));
  CHECK(has(certificate, "5.33 × 10¹⁴"));  // 1234 credits of 4.32e11
  const std::string code = code_on(certificate);
  const gate::Response right = get("/certificate", {{"code", code}});
  CHECK(has(right, "This code is ours"));
  CHECK(has(right, "1,234 accepted samples"));
  for (const std::string& wrong : {code + "0", "9" + code, std::string("1-2-3-4-5"), std::string("<script>"),
                                   std::string(100, '-'), code.substr(0, code.size() - 1)}) {
    CAPTURE(wrong);
    const gate::Response page = get("/certificate", {{"code", wrong}});
    CHECK(has(page, "given out no certificate"));
    CHECK_FALSE(has(page, "<script>"));
  }
  REQUIRE(pages.stores().people.keeper.erase(ada, now()).ok());
  CHECK(has(get("/certificate", {{"code", code}}), "somebody whose account is gone"));
}

TEST_CASE("a code is only good under the secret that made it, and for its own figures") {
  const Certified certified{7, 20'000, {123, 456'000'000}};
  const std::string code = certificate_code(certified, "secret");
  CHECK(read_certificate_code(code, "secret") == certified);
  CHECK_FALSE(read_certificate_code(code, "other").has_value());
  CHECK_FALSE(read_certificate_code("8" + code.substr(1), "secret").has_value());
  CHECK_FALSE(read_certificate_code("0" + code, "secret").has_value());  // another spelling
  CHECK_FALSE(read_certificate_code("", "secret").has_value());
}

TEST_CASE("badges are for percentiles, powers of ten and years") {
  const WallTime now{1'718'000'000'000};
  db::Profile profile;
  profile.standing.joined = {now.unix_ms - 800 * kDay};
  CHECK(badges_of(profile, now).empty());
  profile.standing.earned(db::Board::total) = {10, 400'000};
  CHECK(badges_of(profile, now).front().title == "First samples");
  profile.standing.earned(db::Board::total) = {10, 1'000'000'000};
  profile.standing.last_contribution = now;
  profile.standing.recent = {50, now};
  profile.standing.rank = 5;
  profile.ranked = 100;
  const auto badges = badges_of(profile, now);
  REQUIRE(badges.size() == 3);
  CHECK(badges[0].title == "Top 5 %");
  CHECK(badges[1].title == "1,000 credits");
  CHECK(badges[2].title == "2 years");
  profile.standing.rank = 1;
  CHECK(badges_of(profile, now)[0].title == "Top 1 %");
  profile.ranked = 99;  // one of 99 is more than 1 %
  CHECK(badges_of(profile, now)[0].title == "Top 5 %");
  profile.standing.rank = 60;
  CHECK(badges_of(profile, now)[0].title == "1,000 credits");
}

TEST_CASE_FIXTURE(Fixture, "teams and computers have boards of their own, as pages and as files") {
  const AccountId ada = join("Ada", 1);
  const AccountId ben = join("Ben", 2);
  const db::Team team = pages.stores().people.teams.found(ada, "Swans", now()).value();
  grant(ada, 1, 10, now());
  grant(ben, 2, 20, now());
  const gate::Response teams = get("/leaderboard", {{"of", "teams"}, {"sort", "total"}});
  CHECK(has(teams, "href=\"/team/" + std::to_string(team.id) + "\"><bdi>Swans</bdi>"));
  CHECK(has(teams, "1 team, by total credit"));
  CHECK_FALSE(has(teams, "Ben"));
  CHECK(has(get("/leaderboard.csv", {{"of", "teams"}}), "\"Swans\""));
  CHECK(
      has(get("/leaderboard"), "<a class=\"of\" href=\"/team/" + std::to_string(team.id) + "\"><bdi>Swans</bdi></a>"));
  CHECK(has(get("/leaderboard.csv"), ",\"Swans\"\r\n"));
  CHECK(has(get("/v1/leaderboard.json"), "\"team\":\"Swans\""));
  CHECK(has(get("/v1/leaderboard.json", {{"of", "teams"}}), "\"of\":\"teams\""));
  const gate::Response nobody = get("/leaderboard", {{"of", "computers"}, {"sort", "total"}});
  CHECK(has(nobody, "only those whose owners want it"));
  REQUIRE(pages.stores().people.keeper.show_computers(ben, true).ok());
  const gate::Response computers = get("/leaderboard", {{"of", "computers"}, {"sort", "run"}});
  CHECK(has(computers, "<bdi>Ben, computer 1</bdi>"));
  CHECK_FALSE(has(computers, "Ada"));
  const gate::Response page = get(page_of("/team/", team.id));
  CHECK(page.status == 200);
  CHECK(has(page, "founded 2024-06-10 by Ada"));
  CHECK(has(page, "href=\"/volunteer/" + std::to_string(ada)));
  CHECK(has(page, "/account?team=Swans#team"));
}

TEST_CASE("volunteers found, join and leave teams on their account page") {
  Pages pages;
  Browser ada(pages);
  Browser ben(pages);
  REQUIRE(ada.sign_up("Ada").status == 303);
  REQUIRE(ben.sign_up("Ben").status == 303);
  CHECK(header_of(ada.post("/account/found-team", {{"new-team", "Swans"}}, "/account"), "Location") ==
        "/account?done=founded");
  CHECK(has(ada.get("/account"), "<bdi>Swans</bdi>"));
  CHECK(has(ben.post("/account/found-team", {{"new-team", "<script>"}}, "/account"), "letters"));
  CHECK(has(ben.post("/account/found-team", {{"new-team", "swans"}}, "/account"), "already"));
  CHECK(has(ben.post("/account/join-team", {{"team", "Terns"}}, "/account"), "There is no team &#39;Terns&#39;"));
  CHECK(has(ben.get("/account", {{"team", "Swans\"><b>"}}), "value=\"Swans&quot;&gt;&lt;b&gt;\""));
  CHECK(ben.post("/account/join-team", {{"team", "Swans"}}, "/account").status == 303);
  CHECK(pages.stores().people.teams.find_named("Swans")->members == 2);
  CHECK(ada.send("/account/leave-team", {}).status == 403);  // a form from another site
  CHECK(ada.post("/account/leave-team", {}, "/account").status == 303);
  CHECK(pages.stores().people.teams.find_named("Swans")->members == 1);
}

}  // namespace starling::web::testing
