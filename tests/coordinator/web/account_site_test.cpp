// Accounts in a browser, over a real database.
#include <doctest/doctest.h>

#include "shared/base/plain_text.h"
#include "shared/crypto/secrets.h"
#include "tests/coordinator/web/browser.h"

namespace starling::web::testing {
namespace {

PeerId peer_of(std::uint8_t byte) {
  PeerId peer;
  peer.bytes.fill(byte);
  return peer;
}

// Signs up; returns the account.
AccountId newcomer(Pages& pages, Browser& browser, const std::string& name, const std::string& email = "") {
  REQUIRE(browser.sign_up(name, email).status == 303);
  return pages.stores().people.accounts.find_account_named(name)->id;
}

}  // namespace

TEST_CASE("somebody signs up, is logged in, logs out and in again") {
  Pages pages;
  Browser ada(pages);
  const gate::Response made = ada.sign_up("Ada", "Ada@Example.org");
  CHECK(made.status == 303);
  CHECK(header_of(made, "Location") == "/account");
  const gate::Response account = ada.get("/account");
  CHECK(account.status == 200);
  CHECK(has(account, "<bdi>Ada</bdi>"));
  CHECK(has(account, "value=\"ada@example.org\""));
  CHECK(header_of(account, "Cache-Control") == "no-store");
  CHECK(account.body.size() <= 100'000);
  CHECK(header_of(ada.post("/logout", {}, "/account"), "Location") == "/login");
  CHECK(header_of(ada.get("/account"), "Location") == "/login");
  const gate::Response wrong = ada.log_in("Ada", "not the password");
  CHECK(wrong.status == 403);
  CHECK(has(wrong, "do not belong together"));
  CHECK(ada.log_in("ada").status == 303);
  CHECK(ada.get("/account").status == 200);
}

TEST_CASE("a project with invites makes an account for an invite only, and one that looks at accounts lets them wait") {
  Pages pages({.approval = true});
  Browser ada(pages);
  CHECK(ada.sign_up("Ada").status == 403);
  const WallTime now = pages.clock.wall_now();
  REQUIRE(pages.stores().people.invites.add({crypto::hash_token("abc"), now, {now.unix_ms + 1000}, 1, 0}).ok());
  CHECK(ada.sign_up("Ada", "", "abc").status == 303);
  CHECK(has(ada.get("/account"), "waits for approval"));
  CHECK(pages.stores().people.keeper.list(db::AccountState::waiting, 10, 0)->size() == 1);
  Browser bob(pages);
  CHECK(has(bob.sign_up("Bob", "", "abc"), "used up"));
}

TEST_CASE("a computer is linked by a code, named, kept out and let in by its owner alone") {
  Pages pages;
  Browser ada(pages);
  const AccountId account = newcomer(pages, ada, "Ada");
  const gate::Response shown = ada.post("/account/code", {}, "/account");
  const std::size_t at = shown.body.find("class=\"code\">");
  REQUIRE(at != std::string::npos);
  const std::string code = shown.body.substr(at + 13, 9);
  CHECK(has(shown, "invite=" + code));
  const auto join = [&](std::uint8_t byte) {
    return pages.stores().people.accounts.join({"", peer_of(byte), crypto::hash_token(code), pages.clock.wall_now()});
  };
  CHECK(join(1).value() == account);
  CHECK_FALSE(join(2).ok());  // a code works once
  const Fields computer = {{"computer", peer_of(1).hex()}};
  CHECK(ada.post("/account/computer", {computer[0], {"label", "<b>attic\x01</b>"}}, "/account").status == 303);
  CHECK(has(ada.get("/account"), "&lt;b&gt;attic?&lt;/b&gt;"));
  Browser eve(pages);
  newcomer(pages, eve, "Eve");
  CHECK(eve.post("/account/revoke", computer, "/account").status == 400);
  CHECK(eve.post("/account/computer", {computer[0], {"label", "mine"}}, "/account").status == 400);
  CHECK_FALSE(pages.stores().people.accounts.find_host(peer_of(1))->revoked);
  CHECK(ada.post("/account/revoke", computer, "/account").status == 303);
  CHECK(pages.stores().people.accounts.find_host(peer_of(1))->revoked);
  CHECK(ada.post("/account/admit", computer, "/account").status == 303);
  CHECK_FALSE(pages.stores().people.accounts.find_host(peer_of(1))->revoked);
}

TEST_CASE("a code ends after a while") {
  Pages pages;
  const AccountId account = *pages.stores().people.logins.sign_up({"Ada", "", "x"});
  const std::string code = *pages.people.link_code(account);
  pages.clock.advance(accounts::Accounts::kCodeLifetime);
  CHECK_FALSE(
      pages.stores().people.accounts.join({"", peer_of(1), crypto::hash_token(code), pages.clock.wall_now()}).ok());
}

TEST_CASE("an address is proved by mail; a forgotten password is replaced by it and ends every session") {
  Pages pages;
  Browser ada(pages);
  const AccountId account = newcomer(pages, ada, "Ada", "ada@example.org");
  REQUIRE(pages.letters.letters.size() == 1);
  CHECK(pages.letters.letters[0].to == "ada@example.org");
  const std::string proof = pages.letters.token();
  Browser mail_reader(pages);  // looking changes nothing: mail programs follow links by themselves
  CHECK(mail_reader.get("/verify", {{"token", proof}}).status == 200);
  CHECK(pages.stores().people.logins.of(account)->verified.unix_ms == 0);
  CHECK(mail_reader.post("/verify", {{"token", proof}}, "/verify").status == 200);
  CHECK(pages.stores().people.logins.of(account)->verified.unix_ms > 0);
  CHECK(mail_reader.post("/verify", {{"token", proof}}, "/verify").status == 404);

  CHECK(mail_reader.post("/password", {{"email", "ADA@example.org "}}, "/password").status == 200);
  REQUIRE(pages.letters.letters.size() == 2);
  const Fields wanted = {{"token", pages.letters.token()}, {"password", "another good password"}};
  CHECK(mail_reader.post("/password", {wanted[0], {"password", "short"}}, "/password").status == 400);
  CHECK(mail_reader.post("/password", wanted, "/password").status == 200);
  CHECK(header_of(ada.get("/account"), "Location") == "/login");
  CHECK(ada.log_in("ada@example.org", "another good password").status == 303);
  CHECK(mail_reader.post("/password", wanted, "/password").status == 404);  // the link works once
}

TEST_CASE("an operator's link sets a password, for an account that had none as well") {
  Pages pages;
  const AccountId account =
      *pages.stores().people.accounts.join({"Ada", peer_of(1), std::nullopt, pages.clock.wall_now()});
  const auto link =
      accounts::password_link(pages.stores().people.sessions, account, "https://poems.example", pages.clock.wall_now());
  const std::string token = link->substr(link->find("token=") + 6);
  Browser ada(pages);
  CHECK(ada.post("/password", {{"token", token}, {"password", kPassword}}, "/password").status == 200);
  CHECK(ada.log_in("Ada").status == 303);
}

TEST_CASE("name, address and password are changed; the two last need the password") {
  Pages pages;
  Browser ada(pages);
  const AccountId account = newcomer(pages, ada, "Ada");
  Browser elsewhere(pages);
  REQUIRE(elsewhere.log_in("Ada").status == 303);
  CHECK(ada.post("/account/profile", {{"name", "Ada L"}, {"computers", "1"}}, "/account").status == 303);
  CHECK(pages.stores().people.accounts.find_account(account)->display_name == "Ada L");
  CHECK(pages.stores().people.accounts.find_account(account)->shows_computers);
  CHECK(has(ada.post("/account/profile", {{"name", "<script>"}}, "/account"), "can not be shown"));
  const gate::Response refused =
      ada.post("/account/email", {{"email", "new@example.org"}, {"password", "wrong"}}, "/account");
  CHECK(has(refused, "This is not your password."));
  CHECK(pages.stores().people.logins.of(account)->email.empty());
  const gate::Response changed =
      ada.post("/account/password", {{"old", kPassword}, {"new", "another good password"}}, "/account");
  CHECK(header_of(changed, "Location") == "/account?done=password");
  CHECK(ada.get("/account").status == 200);
  CHECK(header_of(elsewhere.get("/account"), "Location") == "/login");
}

TEST_CASE("every byte of a password counts, wherever it is asked for") {
  Pages pages;
  Browser ada(pages);
  const AccountId account = newcomer(pages, ada, "Ada");
  const std::string password = "correct\u200f\thorse\r\nbattery";
  CHECK(header_of(ada.post("/account/password", {{"old", kPassword}, {"new", password}}, "/account"), "Location") ==
        "/account?done=password");
  CHECK(Browser(pages).log_in("Ada", password).status == 303);
  CHECK(ada.post("/account/email", {{"email", "ada@example.org"}, {"password", password}}, "/account").status == 303);
  CHECK(pages.stores().people.logins.of(account)->email == "ada@example.org");
  CHECK(has(ada.post("/account/delete", {{"gone", "correct horse battery"}}, "/account"), "not your password"));
  CHECK(header_of(ada.post("/account/password", {{"old", password}, {"new", password + "\t"}}, "/account"),
                  "Location") == "/account?done=password");
  CHECK(header_of(ada.post("/account/delete", {{"gone", password + "\t"}}, "/account"), "Location") == "/");
}

TEST_CASE("a name that the rules of today would refuse is kept while other things are changed") {
  Pages pages;
  Browser ada(pages);
  const AccountId account = newcomer(pages, ada, "Ada");
  for (const char* old : {"Ada & Bob!", "Ada\u202e  B"}) {
    CAPTURE(old);
    REQUIRE(pages.stores().people.keeper.rename(account, old).ok());
    const std::string there = plain_line(old);
    for (const bool shows : {true, false}) {
      CHECK(ada.post("/account/profile", {{"name", there}, {"computers", shows ? "1" : ""}}, "/account").status == 303);
      CHECK(pages.stores().people.accounts.find_account(account)->shows_computers == shows);
    }
    CHECK(pages.stores().people.accounts.find_account(account)->display_name == old);
    CHECK(ada.post("/account/profile", {{"name", there + "!"}}, "/account").status == 400);
  }
}

TEST_CASE("a team whose name takes as many bytes as one may is named in whole") {
  Pages pages;
  Browser ada(pages);
  newcomer(pages, ada, "Ada");
  std::string name;
  for (int i = 0; i < 32; ++i) name += "\u0e01";  // 96 bytes
  CHECK(has(ada.get("/account", {{"team", name}}), "value=\"" + name + "\""));
  const std::string cut = ada.get("/account", {{"team", name + name}}).body;
  CHECK(cut.find("value=\"" + name + name.substr(0, 10 * 3) + "\"") != std::string::npos);
}

TEST_CASE("people see what credit of theirs is pending, and what checks of their work have found") {
  Pages pages;
  Browser ada(pages);
  const AccountId account = newcomer(pages, ada, "Ada");
  const std::string code = *pages.people.link_code(account);
  const WallTime now = pages.clock.wall_now();
  REQUIRE(pages.stores().people.accounts.join({"", peer_of(1), crypto::hash_token(code), now}).ok());
  CHECK_FALSE(has(ada.get("/account"), "pending"));
  REQUIRE(pages.stores().training.runs.create({"one", "", db::RunState::running, {1}, 0}).ok());
  const auto decide = [&](RoundIndex round, RoundIndex final_below) {
    db::RoundResult result;
    result.record.run_id = "one";
    result.record.round = round;
    result.wait = 2;
    result.final_below = final_below;
    result.contributions = {{peer_of(1), account, 10, 7'000'000, now}};
    REQUIRE(pages.stores().training.contributions.append(result).ok());
  };
  const auto check = [&](RoundIndex round, db::Verdict verdict) {
    db::WorkCheck check;
    check.run_id = "one";
    check.round = round;
    check.peer_id = peer_of(1);
    check.account_id = account;
    check.verdict = verdict;
    REQUIRE(pages.stores().credit.checks.add(check).ok());
  };
  decide(0, 0);
  CHECK(
      has(ada.get("/account"), "7.00 credit; 7.00 <a href=\"/credit#pending\">pending</a> until the work is checked."));
  check(0, db::Verdict::unchecked);
  CHECK_FALSE(has(ada.get("/account"), "Their work"));
  check(1, db::Verdict::clean);
  CHECK(has(ada.get("/account"), "Their work was checked once, all right."));
  check(2, db::Verdict::missed);
  CHECK(has(ada.get("/account"), "checked 2 times and found wrong once"));
  CHECK(has(ada.get("/account/export"), R"("pending_credit":7,"work_checks":{"clean":1,"missed":1,"unchecked":1})"));
  decide(1, 2);
  CHECK(has(ada.get("/account"), "14.0 credit, all of it <a href=\"/credit#pending\">final</a>."));
}

TEST_CASE("people take all their data along, and leave nothing personal behind") {
  Pages pages;
  Browser ada(pages);
  const AccountId account = newcomer(pages, ada, "Ada", "ada@example.org");
  const std::string code = *pages.people.link_code(account);
  REQUIRE(pages.stores().people.accounts.join({"", peer_of(1), crypto::hash_token(code), pages.clock.wall_now()}).ok());
  REQUIRE(pages.stores().people.keeper.label_host(account, peer_of(1), "attic").ok());
  const gate::Response data = ada.get("/account/export");
  CHECK(data.content_type == "application/json");
  for (const char* part : {"\"Ada\"", "ada@example.org", "attic", "contributions"}) CHECK(has(data, part));

  CHECK(has(ada.post("/account/delete", {{"gone", "wrong"}}, "/account"), "This is not your password."));
  CHECK(header_of(ada.post("/account/delete", {{"gone", kPassword}}, "/account"), "Location") == "/");
  const auto left = pages.stores().people.accounts.find_account(account);
  CHECK(left->display_name == "(deleted 1)");
  CHECK(left->deleted == pages.clock.wall_now());
  CHECK_FALSE(pages.stores().people.logins.of(account).ok());
  CHECK(pages.stores().people.accounts.find_host(peer_of(1))->revoked);
  CHECK(pages.stores().people.accounts.find_host(peer_of(1))->label.empty());
  CHECK(header_of(ada.get("/account"), "Location") == "/login");
  Browser again(pages);
  CHECK(again.sign_up("Ada").status == 303);  // the name is free
}

}  // namespace starling::web::testing
