#include "coordinator/web/operator_site.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "coordinator/accounts/sessions.h"
#include "coordinator/operations/people.h"
#include "coordinator/operations/roles.h"
#include "coordinator/operations/runs.h"
#include "coordinator/web/operator_acts.h"
#include "coordinator/web/page.h"
#include "coordinator/web/private_pages.h"
#include "coordinator/web/responses.h"
#include "shared/base/short_text.h"
#include "shared/crypto/secrets.h"
#include "shared/protocol/names.h"

namespace starling::web {
namespace {

constexpr std::int64_t kKnownSeconds = std::int64_t{365} * 24 * 3600;
constexpr int kWaitingShown = 100;
constexpr std::size_t kBansShown = 100;
constexpr int kNewsShown = 100;
constexpr int kMissesShown = 3;
constexpr int kAuditShown = 100;

// An operator's login, in the form in which the password guard asks for it.
Result<db::Login> login_of(const db::OperatorStore& operators, const std::string& name) {
  STARLING_ASSIGN(db::Operator account, operators.find(name));
  db::Login login;
  login.password = std::move(account.password);
  return login;
}

Result<std::optional<PersonShown>> person_named(const db::Stores& stores, const std::string& name) {
  auto account = stores.people.accounts.find_account_named(name);
  if (!account && account.error().code == ErrorCode::not_found) return std::optional<PersonShown>();
  if (!account) return account.error();
  PersonShown person{std::move(*account), {}, {}, {}};
  if (auto login = stores.people.logins.of(person.account.id); login.ok()) person.login = std::move(*login);
  STARLING_ASSIGN(person.hosts, stores.people.accounts.hosts_of(person.account.id));
  STARLING_ASSIGN(person.unconfirmed, stores.credit.claims.of(person.account.id));
  return std::optional(std::move(person));
}

}  // namespace

OperatorSite::OperatorSite(Parts parts)
    : parts_(std::move(parts)),
      guard_([this](const std::string& name) { return login_of(parts_.stores.operation.operators, name); },
             parts_.clock, parts_.secret, parts_.limits) {}

void OperatorSite::add_routes(gate::Router& router) {
  const auto add = [&](const char* method, const char* path, For whom, Answer answer) {
    router.add(method, path,
               [this, whom, answer](const gate::Request& request) { return guarded(request, whom, answer); });
  };
  add("GET", "/login", For::anybody, &OperatorSite::show_log_in);
  add("POST", "/login", For::anybody, &OperatorSite::log_in);
  add("POST", "/logout", For::anybody, &OperatorSite::log_out);
  add("GET", "/", For::operators, &OperatorSite::show_overview);
  add("GET", "/people", For::operators, &OperatorSite::show_people);
  add("GET", "/news", For::operators, &OperatorSite::show_news);
  add("GET", "/audit", For::operators, &OperatorSite::show_audit);
  router.add_prefix("POST", "/do/", [this](const gate::Request& request) {
    return guarded(request, For::operators, &OperatorSite::act);
  });
  router.add("GET", "/favicon.svg", [](const gate::Request&) { return response_of(kSvgType, std::string(favicon())); });
}

OperatorSite::Visit OperatorSite::visit(const gate::Request& request) const {
  Visit visit{request,
              Form(request.method == "POST" ? request.body : ""),
              cookie(request, kSessionCookie),
              false,
              "",
              db::OperatorRole::viewer};
  if (!visit.cookie.empty()) {
    const auto account =
        parts_.stores.operation.operators.session(crypto::hash_token(visit.cookie), parts_.clock.wall_now());
    if (account) visit.name = account->name;
    if (account) visit.role = account->role;
  }
  if (!visit.name.empty()) return visit;
  VisitorCookie visitor = visitor_cookie(request, kVisitorCookie);
  visit.cookie = std::move(visitor.value);
  visit.new_visitor = visitor.is_new;
  return visit;
}

gate::Response OperatorSite::guarded(const gate::Request& request, For whom, Answer answer) {
  const Visit visit = this->visit(request);
  if (whom == For::operators && visit.name.empty()) return redirect("/login");
  if (request.method == "POST" && (visit.new_visitor || !is_own_form(request, visit.form, visit.cookie))) {
    return refuse(visit, "Please try again", not_own_form());
  }
  return (this->*answer)(visit);
}

FormFrame OperatorSite::form_frame(const Visit& visit) const {
  FormFrame frame{parts_.project, accounts::form_token(visit.cookie),
                  sentence_of(visit.problem, parts_.clock.now(), failures_), !visit.problem.ok(),
                  parts_.clock.wall_now()};
  if (!visit.problem.ok()) return frame;
  // The address carries only the name of the action, so no link can put other words there.
  if (const OperatorAct* done = operator_act(visit.request.parameter("done"))) frame.message = done->done;
  return frame;
}

OperatorFrame OperatorSite::frame(const Visit& visit) const { return {form_frame(visit), visit.name, visit.role}; }

gate::Response OperatorSite::page(const Visit& visit, std::string html) const {
  gate::Response response = private_response(std::move(html), kHtmlType);
  if (!visit.problem.ok()) response.status = status_of(visit.problem);
  if (response.status == 429) response.headers.emplace_back("Retry-After", "30");
  if (visit.new_visitor) set_cookie(response, kVisitorCookie, visit.cookie, to_ms(kSessionLifetime) / 1000);
  return response;
}

gate::Response OperatorSite::refuse(Visit visit, std::string_view title, const Status& why) const {
  visit.problem = why;
  return page(visit, render_operator_notice(form_frame(visit), title));
}

gate::Response OperatorSite::show_log_in(const Visit& visit) {
  if (!visit.name.empty()) return redirect("/");
  return page(visit, render_operator_log_in(form_frame(visit), ""));
}

// A new session's token, never one that a browser brought: nobody can have planted it.
Result<std::string> OperatorSite::open_session(const std::string& name) {
  STARLING_ASSIGN(const db::Operator account, parts_.stores.operation.operators.find(name));
  std::string token = crypto::make_token();
  const WallTime now = parts_.clock.wall_now();
  STARLING_TRY(parts_.stores.operation.operators.open(crypto::hash_token(token), account.name, now,
                                                      {now.unix_ms + to_ms(kSessionLifetime)}));
  STARLING_TRY(operations::note({parts_.stores, parts_.clock, account.name}, "log in", ""));
  return token;
}

gate::Response OperatorSite::log_in(const Visit& visit) {
  const std::string name = visit.form.value("name");
  const auto login = guard_.check(name, visit.form.exact("password"),
                                  {visit.request.remote_address, cookie(visit.request, kKnownCookie)});
  const Result<std::string> session = login ? open_session(name) : Result<std::string>(login.error());
  if (!session) {
    failed_log_ins_.warning(parts_.clock.now(), fmt::format("operator's page: a log-in from {} failed: {}",
                                                            visit.request.remote_address, session.error().message));
    Visit failed = visit;
    failed.problem = session.status();
    return page(failed, render_operator_log_in(form_frame(failed), name));
  }
  gate::Response response = redirect("/");
  set_cookie(response, kSessionCookie, *session, to_ms(kSessionLifetime) / 1000);
  set_cookie(response, kKnownCookie, guard_.known_browser(*login), kKnownSeconds);
  set_cookie(response, kVisitorCookie, "", 0);
  return response;
}

gate::Response OperatorSite::log_out(const Visit& visit) {
  if (!visit.name.empty()) {
    const Status closed = parts_.stores.operation.operators.close(crypto::hash_token(visit.cookie));
    if (!closed.ok()) return refuse(visit, "Still logged in", closed);
  }
  gate::Response response = redirect("/login");
  set_cookie(response, kSessionCookie, "", 0);
  return response;
}

Result<std::string> OperatorSite::overview(const Visit& visit) const {
  const db::Stores& stores = parts_.stores;
  OverviewPage page{frame(visit), parts_.look(), {}, 0, {}, {}, {}, visit.form};
  STARLING_ASSIGN(page.runs, operations::runs_in_use(stores.training.runs));
  STARLING_ASSIGN(const auto waiting, stores.people.keeper.list(db::AccountState::waiting, db::kPageRowsMax, 0));
  page.waiting = waiting.size();
  STARLING_ASSIGN(page.activity, stores.credit.standings.activity());
  STARLING_ASSIGN(page.maintenance, operations::read_maintenance(stores.operation.settings));
  if (page.server.run) {
    STARLING_ASSIGN(const auto rounds, stores.training.runs.rounds(page.server.run->run_id, {.limit = 1}));
    if (!rounds.empty()) page.last_round = rounds.front().decided_at;
  }
  STARLING_ASSIGN(page.checks, stores.credit.checks.sums(""));
  STARLING_ASSIGN(const auto missed, stores.credit.checks.list({"", true, {.limit = kMissesShown}}));
  for (const db::WorkCheck& check : missed) {
    STARLING_ASSIGN(const db::Account account, stores.people.accounts.find_account(check.account_id));
    page.missed.push_back({check, account.display_name});
  }
  STARLING_ASSIGN(const db::Credited credited, stores.credit.standings.credited(""));
  page.pending = credited.pending;
  return render_overview(page);
}

gate::Response OperatorSite::show_overview(const Visit& visit) {
  auto html = overview(visit);
  return html ? page(visit, std::move(*html)) : refuse(visit, "Overview", html.status());
}

Result<std::string> OperatorSite::people(const Visit& visit) const {
  const db::Stores& stores = parts_.stores;
  PeoplePage page{
      frame(visit), {}, std::string(cut_text(visit.request.parameter("sought"), wire::kDisplayNameBytesMax)), {}, {}, 0,
      visit.form};
  STARLING_ASSIGN(page.waiting, stores.people.keeper.list(db::AccountState::waiting, kWaitingShown, 0));
  if (!page.sought.empty()) {
    STARLING_ASSIGN(page.person, person_named(stores, page.sought));
  }
  STARLING_ASSIGN(auto bans, stores.operation.bans.list());
  const WallTime now = parts_.clock.wall_now();
  std::erase_if(bans, [now](const db::Ban& ban) { return ban.expires <= now; });
  std::reverse(bans.begin(), bans.end());
  page.bans_hidden = bans.size() - std::min(bans.size(), kBansShown);
  bans.resize(bans.size() - page.bans_hidden);
  for (db::Ban& ban : bans) {
    std::string subject = operations::shown_subject(ban, stores.people.accounts);
    page.bans.push_back({std::move(ban), std::move(subject)});
  }
  return render_people(page);
}

gate::Response OperatorSite::show_people(const Visit& visit) {
  auto html = people(visit);
  return html ? page(visit, std::move(*html)) : refuse(visit, "People", html.status());
}

gate::Response OperatorSite::show_news(const Visit& visit) {
  auto news = parts_.stores.operation.news.list(kNewsShown);
  if (!news) return refuse(visit, "News", news.status());
  return page(visit, render_news({frame(visit), std::move(*news), visit.form}));
}

gate::Response OperatorSite::show_audit(const Visit& visit) {
  const std::string_view asked = visit.request.parameter("before");
  std::int64_t before = INT64_MAX;
  if (std::from_chars(asked.data(), asked.data() + asked.size(), before).ec != std::errc()) before = INT64_MAX;
  auto lines = parts_.stores.operation.audit.list(kAuditShown, before);
  if (!lines) return refuse(visit, "Audit log", lines.status());
  AuditPage shown{frame(visit), std::move(*lines), {}};
  if (shown.lines.size() == static_cast<std::size_t>(kAuditShown)) shown.next_before = shown.lines.back().id;
  return page(visit, render_audit(shown));
}

gate::Response OperatorSite::act(const Visit& visit) {
  const OperatorAct* wanted = operator_act(visit.request.suffix);
  if (wanted == nullptr) {
    return refuse(visit, "Not here", Error{ErrorCode::not_found, "there is nothing at this address"});
  }
  Visit tried = visit;
  tried.problem = operations::expect_role(visit.name, visit.role, wanted->role);
  if (tried.problem.ok()) tried.problem = wanted->act(desk(visit), visit.form);
  if (tried.problem.ok()) return redirect(fmt::format("{}?done={}", wanted->page, visit.request.suffix));
  if (wanted->page == "/people") return show_people(tried);
  return wanted->page == "/news" ? show_news(tried) : show_overview(tried);
}

}  // namespace starling::web
