// Pages that change people and texts: sign-ups, bans, news, the audit log.
#include "coordinator/web/operator_pages.h"

#include <fmt/core.h>

#include <array>

#include "coordinator/web/credit_page.h"
#include "coordinator/web/fields.h"
#include "coordinator/web/html.h"
#include "coordinator/web/operator_frame.h"

namespace starling::web {
namespace {

constexpr std::array<Choice, 4> kBanKinds = {{{"user", "A volunteer, by name"},
                                              {"team", "A team, by name"},
                                              {"host", "A computer, by its 64 digits"},
                                              {"address", "Addresses, such as 192.0.2.0/24"}}};

void add_waiting(std::string& html, const PeoplePage& page) {
  html += first_section(page.frame, "Sign-ups that wait");
  if (page.waiting.empty()) html += "<p class=\"empty\">Nobody waits.</p>\n";
  if (!page.waiting.empty()) html += "<ul class=\"list\">\n";
  for (const db::Account& account : page.waiting) {
    const std::string whom = hidden("account", std::to_string(account.id));
    html += fmt::format("<li><div><b><bdi>{}</bdi></b><small>since {}</small></div><div>{} {}</div></li>\n",
                        escape(account.display_name), utc(account.created),
                        act_button(page.frame, "approve", whom, "Let in", account.display_name),
                        act_button(page.frame, "reject", whom, "Refuse", account.display_name));
  }
  if (!page.waiting.empty()) html += "</ul>\n";
  html += "</section>\n";
}

void add_host(std::string& html, const db::Host& host, const OperatorFrame& frame) {
  html += fmt::format("<li><div><code>{}</code><small>last seen {}{}</small></div>{}</li>\n", host.peer_id.hex(),
                      ago(host.last_seen, frame.form.now), host.revoked ? ", kept out" : "",
                      act_button(frame, host.revoked ? "admit" : "revoke", hidden("computer", host.peer_id.hex()),
                                 host.revoked ? "Let in again" : "Keep out", host.peer_id.brief()));
}

void add_person(std::string& html, const PeoplePage& page) {
  html += fmt::format(
      "<section>\n<h2>Look somebody up</h2>\n<form method=\"get\" action=\"/people\"><label for=\"sought\">Name</label>"
      "<input id=\"sought\" name=\"sought\" autocomplete=\"off\" required maxlength=\"128\" value=\"{}\">"
      "<button>Look</button></form>\n",
      escape(page.sought));
  if (!page.person) {
    if (!page.sought.empty()) html += fmt::format("<p>Nobody is called <b>{}</b>.</p>\n", escape(page.sought));
    html += "</section>\n";
    return;
  }
  const PersonShown& person = *page.person;
  html += fmt::format("<p><b><bdi>{}</bdi></b>, account {}, since {}", escape(person.account.display_name),
                      person.account.id, utc(person.account.created));
  if (!person.login.email.empty()) {
    html += fmt::format("; {} ({})", escape(person.login.email),
                        person.login.verified.unix_ms > 0 ? "confirmed" : "not confirmed");
  }
  html += fmt::format(". {}.</p>\n<ul class=\"list\">\n",
                      plural(static_cast<std::int64_t>(person.hosts.size()), "computer"));
  for (const db::Host& host : person.hosts) add_host(html, host, page.frame);
  html += "</ul>\n" + unconfirmed_claims(person.unconfirmed) + "</section>\n";
}

void add_ban_form(std::string& html, const PeoplePage& page) {
  if (!may(page.frame, "ban")) return;
  const Form& typed = page.typed;
  html += "<section>\n<h2>Keep somebody out</h2>\n" + form_to("/do/ban", page.frame.form.token);
  html += choice({.name = "kind", .label = "Who", .value = typed.value("kind")}, kBanKinds);
  const std::string subject = typed.value("subject");
  html += field({.name = "subject",
                 .label = "Name, digits or addresses",
                 .value = subject,
                 .more = "required maxlength=\"128\""});
  const std::string reason = typed.value("reason");
  html += field({.name = "reason",
                 .label = "Reason",
                 .value = reason,
                 .hint = "They are told it.",
                 .more = "required maxlength=\"500\""});
  const std::string days = typed.value("days");
  html += field({.name = "days",
                 .label = "For so many days",
                 .type = "number",
                 .value = days,
                 .hint = "Empty: for good.",
                 .more = "min=\"1\" max=\"3650\""});
  html += "<p class=\"send\"><button class=\"main\">Keep out</button></p></form>\n</section>\n";
}

void add_bans(std::string& html, const PeoplePage& page) {
  html += "<section>\n<h2>Kept out</h2>\n";
  if (page.bans.empty()) html += "<p class=\"empty\">Nobody.</p>\n";
  if (!page.bans.empty()) html += "<ul class=\"list\">\n";
  for (const auto& [ban, subject] : page.bans) {
    html += fmt::format("<li><div>{} <b><bdi>{}</bdi></b><small>{}</small><small>since {}, {}</small></div>{}</li>\n",
                        name_of(ban.kind), escape(subject), escape(ban.reason), utc(ban.created),
                        ban.expires == db::kNoExpiry ? "for good" : "until " + utc(ban.expires),
                        act_button(page.frame, "unban", hidden("ban", std::to_string(ban.id)), "Lift", subject));
  }
  if (!page.bans.empty()) html += "</ul>\n";
  if (page.bans_hidden > 0) {
    html += fmt::format("<p class=\"what\">And {} older ones: <code>ban list</code> tells them all.</p>\n",
                        grouped(static_cast<std::int64_t>(page.bans_hidden)));
  }
  html += "</section>\n";
}

void add_news_form(std::string& html, const NewsPage& page) {
  html += form_to("/do/post-news", page.frame.form.token);
  const std::string title = page.typed.value("title");
  html += field({.name = "title", .label = "Title", .value = title, .more = "required maxlength=\"120\""});
  const std::string body = page.typed.lines("body");
  html += text_area({.name = "body",
                     .label = "Text",
                     .value = body,
                     .hint = "Plain text; an empty line ends a paragraph.",
                     .more = "maxlength=\"4000\""},
                    6);
  html += "<p class=\"send\"><button class=\"main\">Post</button></p></form>\n</section>\n<section>\n<h2>Posted</h2>\n";
}

}  // namespace

std::string render_people(const PeoplePage& page) {
  std::string html;
  add_waiting(html, page);
  add_person(html, page);
  html += "<div class=\"two\">\n";
  add_ban_form(html, page);
  add_bans(html, page);
  html += "</div>\n";
  return framed_for(page.frame, "People", "/people", html);
}

std::string render_news(const NewsPage& page) {
  const bool may_post = may(page.frame, "post-news");
  std::string html = first_section(page.frame, may_post ? "Tell volunteers something" : "Posted");
  if (may_post) add_news_form(html, page);
  if (page.news.empty()) html += "<p class=\"empty\">Nothing yet.</p>\n";
  if (!page.news.empty()) html += "<ul class=\"list\">\n";
  for (const db::News& item : page.news) {
    html += fmt::format(
        "<li><div><b>{}</b><small>{}</small></div>{}</li>\n", escape(item.title), utc(item.at),
        act_button(page.frame, "remove-news", hidden("item", std::to_string(item.id)), "Remove", item.title));
  }
  if (!page.news.empty()) html += "</ul>\n";
  return framed_for(page.frame, "News", "/news", html + "</section>\n");
}

std::string render_audit(const AuditPage& page) {
  std::string html = first_section(page.frame, "Who did what");
  if (page.lines.empty()) html += "<p class=\"empty\">Nothing yet.</p>\n";
  if (!page.lines.empty()) html += "<ul class=\"list\">\n";
  for (const db::AuditLine& line : page.lines) {
    html += fmt::format(
        "<li><div><b>{}</b> {}{}<small>{}, {}</small></div></li>\n", escape(line.action), escape(line.subject),
        line.note.empty() ? "" : fmt::format("<small>{}</small>", escape(line.note)), escape(line.who), utc(line.at));
  }
  if (!page.lines.empty()) html += "</ul>\n";
  if (page.next_before) {
    html += fmt::format("<p class=\"more\"><a href=\"/audit?before={}\">Older</a></p>\n", *page.next_before);
  }
  return framed_for(page.frame, "Audit log", "/audit", html + "</section>\n");
}

std::string render_operator_log_in(const FormFrame& frame, std::string_view name) {
  std::string html = "<section class=\"now narrow\">\n" + message_box(frame.message, frame.failed);
  html += form_to("/login", frame.token);
  html += field({.name = "name",
                 .label = "Operator's name",
                 .autocomplete = "username",
                 .value = name,
                 .more = "required maxlength=\"128\""});
  html += field({.name = "password",
                 .label = "Password",
                 .type = "password",
                 .autocomplete = "current-password",
                 .more = "required maxlength=\"256\""});
  html += "<p class=\"send\"><button class=\"main\">Log in</button></p></form>\n";
  html +=
      "<p class=\"what\">An operator's account is made on the server: <code>starling-coordinator operators add</code>. "
      "A volunteer's does not work here.</p>\n</section>\n";
  return framed_for_anybody(frame, "Operator's page", html);
}

std::string render_operator_notice(const FormFrame& frame, std::string_view title) {
  return framed_for_anybody(frame, title,
                            fmt::format("<section class=\"now narrow\">\n{}<p><a href=\"/\">To the overview</a></p>\n"
                                        "</section>\n",
                                        message_box(frame.message, frame.failed)));
}

}  // namespace starling::web
