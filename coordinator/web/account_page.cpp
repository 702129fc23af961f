// The account page, which only its owner sees.
#include <fmt/core.h>

#include "coordinator/web/account_pages.h"
#include "coordinator/web/credit_page.h"
#include "coordinator/web/fields.h"
#include "coordinator/web/html.h"
#include "coordinator/web/leaderboard_page.h"
#include "coordinator/web/page.h"
#include "shared/net/url.h"
#include "shared/wire/json_writer.h"

namespace starling::web {
namespace {

std::string name_of(const db::Host& host) {
  return host.label.empty() ? "Computer " + host.peer_id.brief() : host.label;
}

std::string_view state_of(const db::Host& host) {
  return host.revoked_by == db::Revoker::project ? "kept out by the project" : "kept out";
}

void add_computer(std::string& html, const AccountPage& page, const db::Host& host) {
  const std::string peer = host.peer_id.hex();
  const std::string& token = page.frame.token;
  html += fmt::format("<li><div><b><bdi>{}</bdi></b><small>{}</small></div>", escape(name_of(host)),
                      host.revoked ? std::string(state_of(host)) : "last seen " + ago(host.last_seen, page.frame.now));
  html += fmt::format(
      "<details><summary aria-label=\"Change: {}\">Change</summary><form class=\"fields\" method=\"post\" "
      "action=\"/account/computer\">{}{}"
      "<p class=\"field\"><label for=\"l{}\">What you call it</label><input id=\"l{}\" name=\"label\" maxlength=\"40\" "
      "value=\"{}\"></p><p class=\"send\"><button>Save</button></p></form>",
      escape(name_of(host)), hidden("form", token), hidden("computer", peer), peer, peer, escape(host.label));
  if (!host.revoked || host.revoked_by == db::Revoker::owner) {
    html += button_form(host.revoked ? "/account/admit" : "/account/revoke", token, hidden("computer", peer),
                        host.revoked ? "Let it in again" : "Keep it out", name_of(host));
  }
  html += "</details></li>\n";
}

void add_computers(std::string& html, const AccountPage& page) {
  html += "<section>\n<h2>Your computers</h2>\n";
  if (page.hosts.empty()) {
    html += "<p class=\"empty\">None yet.</p>\n";
  } else {
    html += "<ul class=\"list\">\n";
    for (const db::Host& host : page.hosts) add_computer(html, page, host);
    html += "</ul>\n";
  }
  html += unconfirmed_claims(page.unconfirmed);
  html += checked_work(page.checks);
  html += "<h3 id=\"link\">Link a computer</h3>\n";
  if (page.code.empty()) {
    html += button_form("/account/code", page.frame.token, "", "Show a code") + "\n";
    html += "<p class=\"what\">With the code a computer joins this account, without your password.</p>\n";
  } else {
    html += fmt::format(
        "<p class=\"code\">{}</p>\n<p class=\"what\">Good for one computer, within 15 minutes. Join with this link "
        "there:</p>\n<code class=\"link\">{}</code>\n",
        escape(page.code), escape(page.code_link));
  }
  html += "</section>\n";
}

std::string credit_line(const AccountPage& page) {
  if (page.earned.credit == 0) return "";
  return fmt::format("<p>{} credit{}</p>\n", short_number(credit_of(page.earned)),
                     page.pending.credit == 0 ? ", all of it <a href=\"/credit#pending\">final</a>."
                                              : pending_note(page.pending) + " until the work is checked.");
}

void add_profile(std::string& html, const AccountPage& page) {
  html += "<section>\n<h2>What others see</h2>\n" + form_to("/account/profile", page.frame.token);
  html += field({"name", "Name on the leaderboard", "text", "nickname", page.account.display_name, "",
                 "required maxlength=\"128\""});
  html += fmt::format(
      "<p class=\"field check\"><input id=\"computers\" name=\"computers\" type=\"checkbox\" value=\"1\"{}><label "
      "for=\"computers\">Show how much each of my computers gives, without its name</label></p>",
      page.account.shows_computers ? " checked" : "");
  html += "<p class=\"send\"><button>Save</button></p></form>\n</section>\n";
}

void add_team(std::string& html, const AccountPage& page) {
  const std::string& token = page.frame.token;
  html += "<section>\n<h2 id=\"team\">Team</h2>\n";
  if (page.team) {
    html += fmt::format(
        "<p>You count for <a href=\"/team/{}\"><bdi>{}</bdi></a>. Should you leave, what you earned for it "
        "stays with it.</p>\n",
        page.team->id, escape(page.team->name));
    html += button_form("/account/leave-team", token, "", "Leave the team") + "\n";
  }
  html += form_to("/account/join-team", token);
  html += field({"team", page.team ? "Join another team" : "Join a team", "text", "off", page.wanted_team,
                 "By its name. <a href=\"/leaderboard?of=teams\">All teams</a>", "required maxlength=\"128\""});
  html += "<p class=\"send\"><button>Join</button></p></form>\n";
  if (!page.team) {
    html += form_to("/account/found-team", token);
    html += field({"new-team", "Found a team", "text", "off", "", "", "required maxlength=\"128\""});
    html += "<p class=\"send\"><button>Found it</button></p></form>\n";
  }
  html += "</section>\n";
}

std::string standing_of_email(const AccountPage& page) {
  if (page.login.email.empty()) return "You gave none; a forgotten password then needs the operator's help.";
  return page.login.verified.unix_ms > 0 ? "Confirmed." : "Not confirmed yet.";
}

void add_email(std::string& html, const AccountPage& page) {
  html += "<section>\n<h2>E-mail address</h2>\n" + form_to("/account/email", page.frame.token);
  html += field({"email", "Address", "email", "email", page.login.email, standing_of_email(page), "maxlength=\"254\""});
  html += field({"password", "Your password", "password", "current-password", "", "", "required"});
  html += "<p class=\"send\"><button>Save</button></p></form>\n";
  if (!page.login.email.empty() && page.login.verified.unix_ms == 0 && page.sends_mail) {
    html += button_form("/account/verify", page.frame.token, "", "Send me a link to confirm it") + "\n";
  }
  html += "</section>\n";
}

void add_password(std::string& html, const AccountPage& page) {
  html += "<section>\n<h2>Password</h2>\n" + form_to("/account/password", page.frame.token);
  html += field({"old", "Your password", "password", "current-password", "", "", "required"});
  html += field({"new", "A new one", "password", "new-password", "",
                 "10 letters or more. Other browsers are logged out.", "required minlength=\"10\" maxlength=\"256\""});
  html += "<p class=\"send\"><button>Change it</button></p></form>\n";
  html += button_form("/account/others", page.frame.token, "", "Log all other browsers out") + "\n</section>\n";
}

void add_data(std::string& html, const AccountPage& page) {
  html +=
      "<section>\n<h2>Your data</h2>\n<p><a href=\"/account/export\" download=\"starling-account.json\">Everything the "
      "project knows about you</a>, as JSON.</p>\n<details><summary>Delete this account</summary>\n<p>Your name, "
      "address, password and the names of your computers are gone at once, and your computers stop. What you "
      "contributed stays in the sums, as that of a deleted volunteer. This can not be undone.</p>\n";
  html += form_to("/account/delete", page.frame.token);
  html += field({"gone", "Your password", "password", "current-password", "", "", "required"});
  html += "<p class=\"send\"><button class=\"danger\">Delete the account</button></p></form></details>\n</section>\n";
}

void write_computer(wire::JsonWriter& writer, const db::Host& host) {
  writer.open("", '{');
  writer.text("key_digest", host.peer_id.hex());
  writer.text("label", host.label);
  writer.integer("joined_unix_ms", host.created.unix_ms);
  writer.integer("last_seen_unix_ms", host.last_seen.unix_ms);
  writer.boolean("kept_out", host.revoked);
  writer.close('}');
}

void write_line(wire::JsonWriter& writer, const db::LedgerEntry& line) {
  writer.open("", '{');
  writer.text("run_id", line.run_id);
  writer.integer("round", line.round);
  writer.text("computer", line.contribution.peer_id.hex());
  writer.integer("samples", line.contribution.samples);
  writer.number("credit", credit_of(db::Totals{0, line.contribution.credit}));
  writer.integer("at_unix_ms", line.contribution.at.unix_ms);
  writer.close('}');
}

}  // namespace

std::string render_account(const AccountPage& page) {
  std::string html = "<section class=\"now\">\n" + message_box(page.frame.message, page.frame.failed);
  html += fmt::format("<div class=\"line\"><h2><bdi>{}</bdi></h2>", escape(page.account.display_name));
  if (page.account.state == db::AccountState::waiting) html += "<span class=\"state\">waits for approval</span>";
  html += "<div class=\"push\">" + button_form("/logout", page.frame.token, "", "Log out") + "</div></div>\n";
  html += fmt::format(
      "<p class=\"what\">Joined {}. <a href=\"/volunteer/{}\">Your page</a>. <a href=\"/leaderboard?me={}\">Your row "
      "on "
      "the leaderboard</a>.</p>\n",
      utc(page.account.created).substr(0, 10), page.account.id, net::url_encode(page.account.display_name));
  html += credit_line(page);
  html += "</section>\n<div class=\"two\"><div>\n";
  add_computers(html, page);
  add_team(html, page);
  add_data(html, page);
  html += "</div><div>\n";
  add_profile(html, page);
  add_email(html, page);
  add_password(html, page);
  html += "</div></div>\n";
  return framed({page.frame.project, "Your account", "", "/account", 0, page.frame.now}, html);
}

std::string personal_data_json(const PersonalData& data) {
  wire::JsonWriter writer;
  writer.open("", '{');
  writer.text("project", data.project);
  writer.integer("as_of_unix_ms", data.now.unix_ms);
  writer.integer("account", data.account.id);
  writer.text("display_name", data.account.display_name);
  writer.integer("created_unix_ms", data.account.created.unix_ms);
  writer.text("email", data.login.email);
  writer.integer("email_confirmed_unix_ms", data.login.verified.unix_ms);
  writer.boolean("shows_computers", data.account.shows_computers);
  writer.open("computers", '[');
  for (const db::Host& host : data.hosts) write_computer(writer, host);
  writer.close(']');
  writer.open("contributions", '[');
  for (const db::LedgerEntry& line : data.ledger) write_line(writer, line);
  writer.close(']');
  writer.open("unconfirmed_claims", '{');
  writer.integer("claims", data.unconfirmed.claims);
  writer.integer("samples", data.unconfirmed.samples);
  writer.close('}');
  writer.number("pending_credit", credit_of(data.pending));
  writer.open("work_checks", '{');
  writer.integer("clean", data.checks.clean);
  writer.integer("missed", data.checks.missed);
  writer.integer("unchecked", data.checks.unchecked);
  writer.close('}');
  writer.close('}');
  return std::move(writer.str());
}

}  // namespace starling::web
