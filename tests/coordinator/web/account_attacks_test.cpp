// Attacks on accounts: OWASP's list, as far as it applies here.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>

#include "tests/coordinator/web/browser.h"

namespace starling::web::testing {
namespace {

using namespace std::chrono_literals;

accounts::PasswordGuard::Find find_in(Pages& pages) {
  return [&pages](const std::string& name) { return pages.stores().people.logins.find(name); };
}

}  // namespace

TEST_CASE("a form that another site made is refused, whatever it brings") {
  Pages pages;
  Browser ada(pages);
  REQUIRE(ada.sign_up("Ada").status == 303);
  const std::string token = token_on(ada.get("/account"));
  Browser eve(pages);
  REQUIRE(eve.sign_up("Eve").status == 303);
  const Fields name = {{"name", "Mallory"}};
  const auto try_with = [&](const std::string& form, const Fields& headers) {
    return ada.send("/account/profile", {name[0], {"form", form}}, headers).status;
  };
  CHECK(try_with("", {}) == 403);
  CHECK(try_with(token_on(eve.get("/account")), {}) == 403);
  CHECK(try_with(token, {{"Origin", "https://evil.example"}}) == 403);
  CHECK(try_with(token, {{"Sec-Fetch-Site", "cross-site"}}) == 403);
  CHECK(try_with(token, {{"Sec-Fetch-Site", "same-site"}}) == 403);
  CHECK(pages.stores().people.accounts.find_account_named("Ada").ok());
  CHECK(try_with(token, {{"Origin", "https://poems.example"}}) == 303);
  for (const char* path : {"/login", "/signup", "/logout", "/password", "/verify", "/account/delete"}) {
    CAPTURE(path);
    Browser stranger(pages);
    CHECK(stranger.send(path, {{"form", ""}}).status == 403);
  }
}

TEST_CASE("a session that was planted before log-in is worth nothing after it") {
  Pages pages;
  Browser ada(pages);
  REQUIRE(ada.sign_up("Ada").status == 303);
  const std::string first = ada.cookies.at(AccountSite::kSessionCookie);
  Browser planted(pages);
  const std::string fixed(64, 'a');
  planted.cookies = {{AccountSite::kSessionCookie, fixed}, {AccountSite::kVisitorCookie, fixed}};
  REQUIRE(planted.log_in("Ada").status == 303);
  CHECK(planted.cookies.at(AccountSite::kSessionCookie) != fixed);
  CHECK(planted.cookies.at(AccountSite::kSessionCookie) != first);
  Browser eve(pages);
  eve.cookies = {{AccountSite::kSessionCookie, fixed}};
  CHECK(header_of(eve.get("/account"), "Location") == "/login");
  // A session that was logged out is over on the server too.
  const std::string old = planted.cookies.at(AccountSite::kSessionCookie);
  REQUIRE(planted.post("/logout", {}, "/account").status == 303);
  eve.cookies = {{AccountSite::kSessionCookie, old}};
  CHECK(header_of(eve.get("/account"), "Location") == "/login");
  pages.clock.advance(accounts::Sessions::kLifetime);
  CHECK(header_of(ada.get("/account"), "Location") == "/login");
}

TEST_CASE("nobody learns which e-mail addresses are known") {
  Pages pages;
  Browser ada(pages);
  REQUIRE(ada.sign_up("Ada", "ada@example.org").status == 303);
  REQUIRE(pages.stores().people.logins.verify(1, "ada@example.org", pages.clock.wall_now()).ok());
  Browser eve(pages, "198.51.100.1");
  const auto without_token = [](gate::Response page) {
    const std::string token = token_on(page);
    for (std::size_t at; !token.empty() && (at = page.body.find(token)) != std::string::npos;) page.body.erase(at, 32);
    return page.body;
  };
  const auto known = eve.post("/password", {{"email", "ada@example.org"}}, "/password");
  const auto unknown = eve.post("/password", {{"email", "bob@example.org"}}, "/password");
  CHECK(known.status == unknown.status);
  CHECK(without_token(known) == without_token(unknown));
  // Signing up with it succeeds as with any other address; it logs in nobody but its owner.
  CHECK(eve.sign_up("Eve", "ada@example.org").status == 303);
  CHECK(pages.stores().people.logins.find("ada@example.org")->account_id == 1);
  // A wrong password for an unknown name gets an identical answer.
  Browser guess(pages, "198.51.100.2");
  gate::Response wrong = guess.log_in("ada@example.org", "wrong password");
  gate::Response nobody = guess.log_in("eda@example.org", "wrong password");
  CHECK(wrong.status == nobody.status);
  wrong.body.erase(wrong.body.find("value=\"ada@"), 11);
  nobody.body.erase(nobody.body.find("value=\"eda@"), 11);
  CHECK(without_token(wrong) == without_token(nobody));
}

TEST_CASE("guesses count for the account, in whichever spelling of its name they are tried") {
  Pages pages;
  Browser ada(pages);
  REQUIRE(ada.sign_up("Ada").status == 303);
  accounts::PasswordGuard guard(find_in(pages), pages.clock, "secret",
                                {.by_account = {3, 1.0 / 3600}, .hash_log2_n = 10});
  const std::string spellings[] = {"Ada", "ADA", "\uff21\uff44\uff41", "\u0410d\u0430"};
  ErrorCode last = ErrorCode::internal;
  for (const std::string& name : spellings) last = guard.check(name, "wrong password", {"", ""}).error().code;
  CHECK(last == ErrorCode::resource_exhausted);
}

TEST_CASE("somebody unknown takes as long to refuse as a wrong password") {
  Pages pages;
  Browser ada(pages);
  REQUIRE(ada.sign_up("Ada").status == 303);
  accounts::PasswordGuard guard(find_in(pages), pages.clock, "secret", {.hash_log2_n = 13});
  REQUIRE(pages.stores().people.logins.set({1, "", {}, guard.hash(kPassword).value()}).ok());
  const auto seconds = [&](const std::string& name) {
    timespec from{};
    timespec to{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    const auto answer = guard.check(name, "wrong password", {"127.0.0.1", ""});
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
    REQUIRE(answer.error().code == ErrorCode::unauthenticated);
    pages.clock.advance(30s);  // otherwise there would be too many attempts
    return static_cast<double>(to.tv_sec - from.tv_sec) + 1e-9 * static_cast<double>(to.tv_nsec - from.tv_nsec);
  };
  // Both are measured in turn, and the best of each counts, over as many turns as needed: other programs take caches
  // and memory for a while. A refusal without the hash would take a hundredth of the time, in every turn.
  double known = 1e9;
  double unknown = 1e9;
  const auto alike = [&] { return known / unknown > 0.7 && known / unknown < 1.4; };
  for (int turn = 0; turn < 200 && (turn < 9 || !alike()); ++turn) {
    known = std::min(known, seconds("Ada"));
    unknown = std::min(unknown, seconds("Eda"));
  }
  CAPTURE(known);
  CAPTURE(unknown);
  CHECK(alike());
}

TEST_CASE("guessing is slow from one address and for one account, and locks nobody out of a browser they used") {
  Pages pages;
  const std::string hash = pages.people.guard().hash(kPassword).value();
  REQUIRE(pages.stores().people.logins.sign_up({"Ada", "", hash}).ok());
  REQUIRE(pages.stores().people.logins.sign_up({"Bob", "", hash}).ok());
  const auto in = pages.people.log_in("Ada", kPassword, {"192.0.2.1", ""});
  REQUIRE(in.ok());
  // Many addresses attack one account.
  int refused = 0;
  for (int i = 0; i < 12; ++i) {
    const auto guess = pages.people.log_in("Ada", "guess", {"198.51.100." + std::to_string(i + 1), ""});
    refused += guess.error().code == ErrorCode::resource_exhausted;
  }
  CHECK(refused == 2);
  CHECK(pages.people.log_in("Ada", kPassword, {"203.0.113.9", ""}).error().code == ErrorCode::resource_exhausted);
  CHECK(pages.people.log_in("Ada", kPassword, {"203.0.113.9", in->known_browser}).ok());
  CHECK(pages.people.log_in("Bob", kPassword, {"203.0.113.9", ""}).ok());
  pages.clock.advance(30s);
  CHECK(pages.people.log_in("Ada", kPassword, {"203.0.113.9", ""}).ok());
  // A proof for one account is not valid for another.
  for (int i = 0; i < 10; ++i) (void)pages.people.log_in("Bob", "guess", {"198.51.101." + std::to_string(i), ""}).ok();
  CHECK_FALSE(pages.people.log_in("Bob", kPassword, {"203.0.113.9", in->known_browser}).ok());
}

TEST_CASE("one address tries a bounded number of times, over all accounts") {
  Pages pages;
  int tried = 0;
  accounts::PasswordGuard guard(find_in(pages), pages.clock, "secret", {.by_address = {5, 1.0 / 20}, .hash_log2_n = 8});
  while (guard.check("nobody " + std::to_string(tried), "guess", {"192.0.2.1", ""}).error().code ==
         ErrorCode::unauthenticated) {
    ++tried;
  }
  CHECK(tried == 5);
}

TEST_CASE("markup, quotes and SQL in any field are text, or refused") {
  Pages pages;
  const std::string nasty[] = {"<script>alert(1)</script>",
                               "\"><img src=x onerror=alert(1)>",
                               "'; DROP TABLE account; --",
                               "' OR '1'='1",
                               "Robert'); DELETE FROM login; --",
                               "\\",
                               "%00",
                               std::string("a\0b", 3),
                               "../../etc/passwd",
                               "\xff\xfe",
                               "{{7*7}}"};
  Browser ada(pages, "127.0.0.1");
  REQUIRE(ada.sign_up("Ada", "ada@example.org").status == 303);
  for (const std::string& text : nasty) {
    CAPTURE(text);
    Browser eve(pages, "127.0.0.1");
    const gate::Response made = eve.sign_up(text, text, text);
    CHECK(made.status >= 400);
    CHECK_FALSE(has(made, "<script>alert"));
    CHECK_FALSE(has(made, "<img src"));
    const gate::Response shown = eve.get("/password", {{"token", text}});
    CHECK_FALSE(has(shown, "<script>alert"));
    CHECK(eve.get("/login", {{"done", text}}).status == 200);
    CHECK(eve.post("/verify", {{"token", text}}, "/verify").status >= 400);
    CHECK(eve.post("/password", {{"token", text}, {"password", kPassword}}, "/password").status >= 400);
    for (const char* action : {"profile", "computer", "revoke", "admit"}) {
      const gate::Response acted = ada.post(std::string("/account/") + action,
                                            {{"name", text}, {"computer", text}, {"label", text}}, "/account");
      CHECK_FALSE(has(acted, "<script>alert"));
      CHECK_FALSE(has(acted, "<img src"));
    }
    CHECK_FALSE(has(ada.get("/account", {{"done", text}}), "<script>alert"));
  }
  CHECK(pages.stores().people.accounts.find_account_named("Ada").ok());
  CHECK(pages.stores().people.logins.of(1).ok());
  CHECK(pages.database->check().ok());
}

TEST_CASE("a ban closes the pages of an account at once") {
  Pages pages;
  Browser ada(pages);
  REQUIRE(ada.sign_up("Ada").status == 303);
  const WallTime now = pages.clock.wall_now();
  REQUIRE(
      pages.stores().operation.bans.add({0, db::BanKind::user, "1", "sends noise", now, {now.unix_ms + 60'000}}).ok());
  REQUIRE(pages.bans.refresh().ok());
  const gate::Response out = ada.get("/account");
  CHECK(out.status == 403);
  CHECK(has(out, "sends noise"));
  Browser elsewhere(pages);
  CHECK(elsewhere.log_in("Ada").status == 403);
  pages.clock.advance(61s);
  CHECK(ada.get("/account").status == 200);
}

}  // namespace starling::web::testing
