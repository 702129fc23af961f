// The operator's pages over a real database: their actions, and attacks on them.
#include <doctest/doctest.h>

#include "coordinator/web/html.h"
#include "coordinator/web/operator_site.h"
#include "shared/net/url.h"
#include "tests/coordinator/web/browser.h"

namespace starling::web::testing {
namespace {

using namespace std::chrono_literals;

// The project's pages for volunteers, and the operator's pages on a router of their own.
struct Office {
  explicit Office(accounts::Policy policy = {.open_to_all = true}) : pages(policy) {
    site.add_routes(router);
    const std::string hash = accounts::hash_for_keeping(kPassword, {.hash_log2_n = 8}).value();
    REQUIRE(stores().operation.operators.set({"grace", hash, pages.clock.wall_now()}).ok());
  }
  [[nodiscard]] const db::Stores& stores() const { return pages.stores(); }
  void run(const RunId& run_id) {
    REQUIRE(stores().training.runs.create({run_id, "envelope", db::RunState::paused, pages.clock.wall_now(), 0}).ok());
  }
  // The newest line as "name: action subject (note)".
  [[nodiscard]] std::string newest() const {
    const auto lines = stores().operation.audit.list(1, INT64_MAX);
    REQUIRE(lines->size() == 1);
    const db::AuditLine& line = lines->front();
    return line.who + ": " + line.action + " " + line.subject + " (" + line.note + ")";
  }

  Pages pages;
  ServerView view{{.started = pages.clock.wall_now()}, {}, pages.clock.wall_now(), "", {INT64_MAX}};
  OperatorSite site{{"Poems", stores(), pages.clock, "a secret", [this] { return view; }, {.hash_log2_n = 8}}};
  gate::Router router;
};

// A browser in which grace is logged in.
struct Grace : Browser {
  explicit Grace(Office& office) : Browser(office.router) { REQUIRE(log_in("grace").status == 303); }
  gate::Response act(const std::string& what, const Fields& fields) { return post("/do/" + what, fields, "/"); }
};

}  // namespace

TEST_CASE("nothing of the operator's page is shown or done without a log-in") {
  Office office;
  Browser eve(office.router);
  for (const char* path : {"/", "/people", "/news", "/audit"}) {
    CAPTURE(path);
    const gate::Response page = eve.get(path);
    CHECK(page.status == 303);
    CHECK(header_of(page, "Location") == "/login");
    CHECK(page.body.empty());
  }
  const std::string token = token_on(eve.get("/login"));
  const gate::Response acted = eve.send("/do/ban", {{"form", token}, {"kind", "address"}, {"subject", "192.0.2.1"}});
  CHECK(header_of(acted, "Location") == "/login");
  CHECK(office.stores().operation.bans.list()->empty());
  CHECK(eve.log_in("grace", "not the password").status == 403);
  CHECK(eve.log_in("Ada").status == 403);
  // A volunteer's account and session are worth nothing here.
  Browser ada(office.pages);
  REQUIRE(ada.sign_up("grace").status == 303);
  Browser planted(office.router);
  planted.cookies[OperatorSite::kSessionCookie] = ada.cookies.at(AccountSite::kSessionCookie);
  CHECK(header_of(planted.get("/"), "Location") == "/login");
}

TEST_CASE("the operator's pages and the public ones are on different doors") {
  Office office;
  std::string allowed;
  for (const char* path : {"/people", "/news", "/audit", "/do/ban"}) {
    gate::Request request;
    request.method = "GET";
    request.path = path;
    CHECK(office.pages.router.find(request, allowed) == nullptr);
  }
}

TEST_CASE("a session is made at log-in, ends after hours, at log-out and with a new password") {
  Office office;
  Browser grace(office.router);
  const std::string fixed(64, 'a');
  grace.cookies = {{OperatorSite::kSessionCookie, fixed}, {OperatorSite::kVisitorCookie, fixed}};
  REQUIRE(grace.log_in("GRACE").status == 303);
  CHECK(office.newest() == "grace: log in  ()");
  const std::string session = grace.cookies.at(OperatorSite::kSessionCookie);
  CHECK(session != fixed);
  CHECK(has(grace.get("/"), "Logged in as <b>grace</b>"));
  Browser eve(office.router);
  eve.cookies = {{OperatorSite::kSessionCookie, fixed}};
  CHECK(header_of(eve.get("/"), "Location") == "/login");
  REQUIRE(grace.post("/logout", {}, "/").status == 303);
  eve.cookies = {{OperatorSite::kSessionCookie, session}};
  CHECK(header_of(eve.get("/"), "Location") == "/login");

  REQUIRE(grace.log_in("grace").status == 303);
  office.pages.clock.advance(OperatorSite::kSessionLifetime);
  CHECK(header_of(grace.get("/"), "Location") == "/login");
  REQUIRE(grace.log_in("grace").status == 303);
  const std::string hash = accounts::hash_for_keeping("another passphrase", {.hash_log2_n = 8}).value();
  REQUIRE(office.stores().operation.operators.set({"grace", hash, office.pages.clock.wall_now()}).ok());
  CHECK(header_of(grace.get("/"), "Location") == "/login");
  CHECK(grace.log_in("grace").status == 403);
}

TEST_CASE("a moderator keeps people out and posts news, a run manager starts runs, a viewer only looks") {
  Office office;
  office.run("one");
  const auto become = [&](db::OperatorRole role) {
    REQUIRE(office.stores().operation.operators.set_role("grace", role).ok());
  };
  Grace grace(office);
  const Fields ban = {{"kind", "address"}, {"subject", "192.0.2.1"}, {"reason", "spam"}};
  const Fields start = {{"run", "one"}};
  const auto state = [&] { return office.stores().training.runs.find("one")->state; };

  become(db::OperatorRole::viewer);  // at once, in the session that she has
  for (const char* page : {"/", "/people", "/news", "/audit"}) CHECK(grace.get(page).status == 200);
  CHECK(has(grace.get("/"), "<b>grace</b>, viewer"));
  CHECK_FALSE(has(grace.get("/"), "/do/start"));
  CHECK_FALSE(has(grace.get("/people"), "/do/ban"));
  CHECK_FALSE(has(grace.get("/news"), "/do/post-news"));
  const gate::Response refused = grace.act("ban", ban);
  CHECK(refused.status == 403);
  CHECK(has(refused, "is a viewer"));
  CHECK(grace.act("start", start).status == 403);
  CHECK(office.stores().operation.bans.list()->empty());

  become(db::OperatorRole::moderator);
  CHECK(has(grace.get("/people"), "/do/ban"));
  CHECK_FALSE(has(grace.get("/"), "/do/start"));
  CHECK(grace.act("start", start).status == 403);
  CHECK(grace.act("maintenance", {{"message", "x"}}).status == 403);
  CHECK(state() == db::RunState::paused);
  CHECK(grace.act("ban", ban).status == 303);
  CHECK(grace.act("post-news", {{"title", "Hello"}, {"body", "World"}}).status == 303);

  become(db::OperatorRole::run_manager);
  CHECK(has(grace.get("/"), "/do/start"));
  CHECK_FALSE(has(grace.get("/news"), "/do/remove-news"));
  CHECK(grace.act("ban", ban).status == 403);
  CHECK(grace.act("remove-news", {{"item", "1"}}).status == 403);
  CHECK(grace.act("start", start).status == 303);
  CHECK(state() == db::RunState::running);
}

TEST_CASE("a form that another site made does nothing") {
  Office office;
  office.run("one");
  Grace grace(office);
  const std::string token = token_on(grace.get("/"));
  Browser eve(office.router);
  const std::string theirs = token_on(eve.get("/login"));
  const auto try_with = [&](const std::string& form, const Fields& headers) {
    return grace.send("/do/start", {{"run", "one"}, {"form", form}}, headers).status;
  };
  CHECK(try_with("", {}) == 403);
  CHECK(try_with(theirs, {}) == 403);
  CHECK(try_with(token, {{"Origin", "https://evil.example"}}) == 403);
  CHECK(try_with(token, {{"Sec-Fetch-Site", "cross-site"}}) == 403);
  // The public pages are on this host at another port, which is another origin.
  CHECK(try_with(token, {{"Sec-Fetch-Site", "same-site"}}) == 403);
  CHECK(office.stores().training.runs.find("one")->state == db::RunState::paused);
  CHECK(try_with(token, {{"Origin", "https://poems.example"}}) == 303);
  CHECK(office.stores().training.runs.find("one")->state == db::RunState::running);
  CHECK(eve.send("/login", {{"form", ""}, {"name", "grace"}, {"password", kPassword}}).status == 403);
  CHECK(grace.send("/logout", {{"form", theirs}}).status == 403);
}

TEST_CASE("guessing an operator's password is slow, and does not lock out the browser that they use") {
  Office office;
  Grace grace(office);
  REQUIRE(grace.post("/logout", {}, "/").status == 303);
  int refused = 0;
  for (int i = 0; i < 12; ++i) {
    Browser eve(office.router, "198.51.100." + std::to_string(i + 1));
    refused += eve.log_in("grace", "guess").status == 429;
  }
  CHECK(refused == 2);
  Browser elsewhere(office.router, "203.0.113.9");
  CHECK(elsewhere.log_in("grace").status == 429);
  CHECK(grace.log_in("grace").status == 303);
}

TEST_CASE("sign-ups that wait are let in or refused") {
  Office office({.open_to_all = true, .approval = true});
  Browser(office.pages).sign_up("Ada");
  Browser(office.pages).sign_up("Bob");
  Grace grace(office);
  CHECK(has(grace.get("/"), "<a href=\"/people\">2 sign-ups</a>"));
  CHECK(has(grace.get("/people"), "<bdi>Ada</bdi>"));
  CHECK(header_of(grace.act("approve", {{"account", "1"}}), "Location") == "/people?done=approve");
  CHECK(has(grace.get("/people", {{"done", "approve"}}), "They may take part."));
  CHECK(office.stores().people.accounts.find_account(1)->state == db::AccountState::active);
  CHECK(grace.act("reject", {{"account", "1"}}).status == 400);
  CHECK(grace.act("reject", {{"account", "2"}}).status == 303);
  CHECK(office.stores().people.accounts.find_account(2)->state == db::AccountState::deleted);
  CHECK(office.newest() == "grace: users delete account 2 ()");
  CHECK(grace.act("approve", {{"account", "2 OR 1=1"}}).status == 400);
  CHECK(grace.act("approve", {{"account", "77"}}).status == 404);
}

TEST_CASE("people are looked up, kept out for a time, and let in again") {
  Office office;
  Browser(office.pages).sign_up("Eve", "eve@example.org");
  PeerId computer;
  computer.bytes.fill(7);
  REQUIRE(office.stores()
              .people.accounts.join({"", computer, {}, office.pages.clock.wall_now(), db::AccountState::active, 1})
              .ok());
  Grace grace(office);
  const gate::Response found = grace.get("/people", {{"sought", "eve"}});
  CHECK(has(found, "eve@example.org"));
  CHECK(has(found, computer.hex()));
  CHECK(has(grace.get("/people", {{"sought", "nobody"}}), "Nobody is called"));
  std::string long_name;
  for (int i = 0; i < 32; ++i) long_name += "\u0e01";  // 96 bytes
  Browser(office.pages).sign_up(long_name, "long@example.org");
  CHECK(has(grace.get("/people", {{"sought", long_name}}), "long@example.org"));
  CHECK(grace.act("revoke", {{"computer", computer.hex()}}).status == 303);
  CHECK(office.stores().people.accounts.find_host(computer)->revoked);
  CHECK(grace.act("admit", {{"computer", computer.hex()}}).status == 303);
  CHECK_FALSE(office.stores().people.accounts.find_host(computer)->revoked);

  CHECK(grace.act("ban", {{"kind", "user"}, {"subject", "Eve"}, {"reason", "sends noise"}, {"days", "7"}}).status ==
        303);
  CHECK(office.newest() == "grace: ban add user:Eve (sends noise)");
  const auto bans = office.stores().operation.bans.list();
  REQUIRE(bans->size() == 1);
  CHECK(bans->front().expires.unix_ms - bans->front().created.unix_ms == to_ms(7 * 24h));
  CHECK(has(grace.get("/people"), "user <b><bdi>Eve</bdi></b><small>sends noise</small>"));
  // A failed action is reported, with the text that was typed.
  const gate::Response wrong =
      grace.act("ban", {{"kind", "address"}, {"subject", "<b>1.2.3</b>"}, {"reason", "spam"}, {"days", ""}});
  CHECK(wrong.status == 400);
  CHECK(has(wrong, "value=\"&lt;b&gt;1.2.3&lt;/b&gt;\""));
  CHECK(has(wrong, "<option value=\"address\" selected>"));
  for (const char* days : {"0", "-3", "many", "99999999999999999999", "3651"}) {
    CHECK(grace.act("ban", {{"kind", "user"}, {"subject", "Eve"}, {"reason", "x"}, {"days", days}}).status == 400);
  }
  CHECK(grace.act("ban", {{"kind", "user"}, {"subject", "Eve"}, {"reason", ""}}).status == 400);
  office.pages.clock.advance(7 * 24h);
  Grace again(office);
  CHECK_FALSE(has(again.get("/people"), "sends noise"));
  CHECK(again.act("unban", {{"ban", "1"}}).status == 303);
  CHECK(office.stores().operation.bans.list()->empty());
}

TEST_CASE("runs are started, paused and retired, news posted and removed, maintenance begun and ended") {
  Office office;
  office.run("one");
  office.run("two");
  Grace grace(office);
  CHECK(has(grace.get("/"), "No run is running"));
  CHECK(grace.act("start", {{"run", "one"}}).status == 303);
  const gate::Response both = grace.act("start", {{"run", "two"}});
  CHECK(both.status == 400);
  CHECK(has(both, "Run &#39;one&#39; is running"));
  CHECK(grace.act("retire", {{"run", "one"}}).status == 400);
  CHECK(grace.act("pause", {{"run", "one"}}).status == 303);
  CHECK(grace.act("retire", {{"run", "one"}}).status == 303);
  CHECK_FALSE(has(grace.get("/"), "<b>one</b>"));
  CHECK(has(grace.get("/"), "<b>two</b>"));
  CHECK(grace.act("start", {{"run", "nosuch"}}).status == 404);

  CHECK(grace.act("post-news", {{"title", "Hello"}, {"body", "World"}}).status == 303);
  CHECK(has(grace.get("/news"), "<b>Hello</b>"));
  CHECK(grace.act("post-news", {{"title", std::string(121, 'x')}, {"body", "kept"}}).status == 400);
  CHECK(has(grace.act("post-news", {{"title", ""}, {"body", "kept <as> typed"}}), "kept &lt;as&gt; typed</textarea>"));
  CHECK(grace.act("remove-news", {{"item", "1"}}).status == 303);
  CHECK(grace.act("remove-news", {{"item", "1"}}).status == 404);

  CHECK(grace.act("maintenance", {{"message", "a new disk"}, {"hours", "2"}}).status == 303);
  CHECK(has(grace.get("/"), "a new disk. Please come again after"));
  CHECK(office.newest() == "grace: maintenance on until 2024-06-10 08:13 UTC (a new disk)");
  CHECK(grace.act("serve-again", {}).status == 303);
  CHECK(grace.act("serve-again", {}).status == 400);
  const gate::Response log = grace.get("/audit");
  for (const char* line :
       {"<b>run start</b> one", "<b>run retire</b> one", "<b>news post</b> news 1", "<b>log in</b>"}) {
    CAPTURE(line);
    CHECK(has(log, line));
  }
}

TEST_CASE("what needs attention comes first") {
  Office office;
  const WallTime now = office.pages.clock.wall_now();
  OverviewPage page{{{"Poems", "", "", false, now}, "grace"}, office.view, {}, 0, {}, {}, {}};
  const auto says = [&](const std::string& text) {
    for (const std::string& problem : needs_attention(page)) {
      if (problem.find(text) != std::string::npos) return true;
    }
    return false;
  };
  CHECK(says("There is no run"));
  page.runs = {{"one", "", db::RunState::running, now, 5}};
  page.server.run = ShownRun{"one", "One", {}, 0, 1, 1};
  page.server.run->swarm.state = wire::RunState::running;
  CHECK(says("no computer trains it"));
  page.server.run->swarm.ready = 3;
  page.last_round = WallTime{now.unix_ms - to_ms(5min)};
  CHECK(needs_attention(page).empty());
  page.server.failing = {3, 3, "no <tensor>"};
  CHECK(says("The trainers of all 3 computers fail: no &lt;tensor&gt;."));
  page.server.failing = {};
  CHECK(render_overview(page).find("What computes") == std::string::npos);
  page.server.devices.alike = {{{.kind = "cpu", .name = "<Z80>"}, 2}};
  page.server.devices.untold = 1;
  CHECK(render_overview(page).find("<li><div>2 computers: &lt;Z80&gt;</div></li>\n<li><div>1 computer: not told") !=
        std::string::npos);
  CHECK(render_overview(page).find("Work checks") == std::string::npos);
  page.checks = {1200, 1, 30};
  page.pending = {0, 45'000'000};
  page.missed.emplace_back();
  page.missed.back().check.why = "for the first <time>";
  page.missed.back().name = "Ada & Eve";
  page.server.classes = {{"linux <x86>, cpu, fp32", 1200, 1, 3e-7, 1e-4},
                         {"linux arm, cpu, fp32", 3, 4, 0, 1e-4, true}};
  const std::string checked = render_overview(page);
  for (const char* part :
       {"Work checks", "<dd>1,201<small>", "<dd>1<small>the work was wrong", "<dd>30<small>", "<dd>45.0<small>",
        "<a href=\"/people?sought=Ada%20%26%20Eve\">Ada &amp; Eve</a>", "wrong for the first &lt;time&gt;",
        "linux &lt;x86&gt;, cpu, fp32<small>1,200 right, 1 wrong, honest ones within 3e-07",
        "linux arm, cpu, fp32 <b>is wrong often</b><small>3 right, 4 wrong; "}) {
    CAPTURE(part);
    CHECK(checked.find(part) != std::string::npos);
  }
  page.last_round = WallTime{now.unix_ms - to_ms(3h)};
  CHECK(says("The last round ended 3 h ago"));
  page.last_round = now;
  page.server.run->swarm.sitting_out = 1;
  CHECK(says("1 computer is left out"));
  page.server.last_backup = WallTime{now.unix_ms - to_ms(37h)};
  CHECK(says("The last backup was made 37 h ago"));
  page.server.backup_failure = "no <room>";
  CHECK(says("The last backup failed: no &lt;room&gt;."));
  page.server.certificate_ends = {now.unix_ms + to_ms(24h)};
  CHECK(says("certificate ends"));
  page.server.health.database_writes = false;
  CHECK(needs_attention(page).front().find("disk is full") != std::string::npos);
}

TEST_CASE("markup, quotes, paths and SQL in any field of the operator's are text, or refused") {
  Office office;
  office.run("one");
  Browser(office.pages).sign_up("Ada");
  Grace grace(office);
  for (const std::string& text :
       {std::string("<script>alert(1)</script>"), std::string("\"><img src=x onerror=alert(1)>"),
        std::string("'; DROP TABLE audit; --"), std::string("' OR '1'='1"), std::string("../../etc/passwd"),
        std::string("..%2f..%2fetc%2fpasswd"), std::string("a\0b", 3), std::string("\xff\xfe"), std::string("%00")}) {
    CAPTURE(text);
    const auto clean = [](const gate::Response& page) {
      return !has(page, "<script>alert") && !has(page, "<img src=x") && page.status < 500;
    };
    Fields all;
    for (const char* name : {"account", "computer", "kind", "subject", "reason", "days", "ban", "title", "body", "item",
                             "run", "message", "hours"}) {
      all.emplace_back(name, text);
    }
    for (const char* what : {"approve", "reject", "revoke", "admit", "ban", "unban", "post-news", "remove-news",
                             "start", "pause", "retire", "maintenance", "serve-again"}) {
      CAPTURE(what);
      CHECK(clean(grace.act(what, all)));
    }
    CHECK(clean(grace.act("ban", {{"kind", "user"}, {"subject", "Ada"}, {"reason", text}})));
    CHECK(clean(grace.act("maintenance", {{"message", text}})));
    for (const char* path : {"/", "/people", "/news", "/audit"}) {
      CHECK(clean(grace.get(path, {{"done", text}, {"sought", text}, {"before", text}})));
    }
    CHECK(grace.act(net::url_encode(text), {}).status == 404);
    Browser eve(office.router, "127.0.0.1");
    CHECK(clean(eve.log_in(text, text)));
  }
  CHECK(office.stores().training.runs.find("one")->state == db::RunState::paused);
  CHECK(office.stores().training.runs.find("one")->retired.unix_ms == 0);
  CHECK(office.stores().people.accounts.find_account_named("Ada").ok());
  CHECK(office.pages.database->check().ok());
}

TEST_CASE("the audit log is read in pages, to its beginning") {
  Office office;
  for (int i = 0; i < 250; ++i) {
    const operations::Desk desk{office.stores(), office.pages.clock, "ada (command)"};
    REQUIRE(operations::note(desk, "run start", "r" + std::to_string(i)).ok());
  }
  Grace grace(office);
  Fields query;
  int pages = 0;
  std::string last;
  for (; pages < 10; ++pages) {
    const gate::Response page = grace.get("/audit", query);
    CHECK(page.body.size() <= 100'000);
    last = page.body;
    const std::size_t at = page.body.find("/audit?before=");
    if (at == std::string::npos) break;
    query = {{"before", std::to_string(std::stoll(page.body.substr(at + 14)))}};
  }
  CHECK(pages == 2);
  CHECK(last.find("<b>run start</b> r0<") != std::string::npos);
}

}  // namespace starling::web::testing
