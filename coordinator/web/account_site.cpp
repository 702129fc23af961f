#include "coordinator/web/account_site.h"

#include "coordinator/web/page.h"
#include "coordinator/web/private_pages.h"
#include "coordinator/web/responses.h"

namespace starling::web {
namespace {

constexpr std::int64_t kKnownSeconds = std::int64_t{365} * 24 * 3600;

}  // namespace

void AccountSite::add_routes(gate::Router& router) {
  const auto add = [&](const char* method, const char* path, Show show) {
    router.add(method, path, [this, show](const gate::Request& request) { return guarded(request, show); });
  };
  add("GET", "/signup", &AccountSite::show_sign_up);
  add("POST", "/signup", &AccountSite::sign_up);
  add("GET", "/login", &AccountSite::show_log_in);
  add("POST", "/login", &AccountSite::log_in);
  add("POST", "/logout", &AccountSite::log_out);
  add("GET", "/password", &AccountSite::show_password);
  add("POST", "/password", &AccountSite::password);
  add("GET", "/verify", &AccountSite::show_verify);
  add("POST", "/verify", &AccountSite::verify);
  add("GET", "/account", &AccountSite::show_account);
  add("GET", "/account/export", &AccountSite::export_data);
  router.add_prefix("POST", "/account/",
                    [this](const gate::Request& request) { return guarded(request, &AccountSite::act); });
}

AccountSite::Visit AccountSite::visit(const gate::Request& request) const {
  Visit visit{request, Form(request.method == "POST" ? request.body : ""), {}, cookie(request, kSessionCookie), false};
  visit.viewer = parts_.accounts.sessions().viewer(visit.cookie);
  if (visit.viewer) return visit;
  VisitorCookie visitor = visitor_cookie(request, kVisitorCookie);
  visit.cookie = std::move(visitor.value);
  visit.new_visitor = visitor.is_new;
  return visit;
}

gate::Response AccountSite::guarded(const gate::Request& request, Show show) {
  const Visit visit = this->visit(request);
  const auto& parts = parts_.accounts.parts();
  const AccountId viewer = visit.viewer ? visit.viewer->account_id : 0;
  if (const Status out = parts.bans.admit(viewer, {}, request.remote_address); !out.ok()) {
    return refuse(visit, "Kept out", out);
  }
  if (request.method == "POST" && (visit.new_visitor || !is_own_form(request, visit.form, visit.cookie))) {
    return refuse(visit, "Please try again", not_own_form());
  }
  const bool may_wait = request.method == "POST" && request.path != "/login" && request.path != "/logout";
  if (const auto under_way = maintenance(); under_way && may_wait) return put_off(visit, *under_way);
  return (this->*show)(visit);
}

std::optional<operations::Maintenance> AccountSite::maintenance() const {
  return parts_.maintenance == nullptr ? std::nullopt : parts_.maintenance->shown();
}

gate::Response AccountSite::put_off(const Visit& visit, const operations::Maintenance& maintenance) const {
  FormFrame told = frame(visit);
  told.message = "Nothing was changed: this has to wait until the project has been looked after.";
  told.failed = true;
  gate::Response response = page(visit, render_notice(told, "Please come again"), 503);
  const Duration wait = operations::come_again(maintenance, parts_.accounts.parts().clock.wall_now());
  response.headers.emplace_back("Retry-After", std::to_string(to_ms(wait) / 1000));
  return response;
}

gate::Response AccountSite::page(const Visit& visit, std::string html, int status) const {
  if (const auto under_way = maintenance()) html = with_notice(std::move(html), operations::notice_of(*under_way));
  gate::Response response = private_response(std::move(html), kHtmlType);
  response.status = status;
  if (visit.new_visitor)
    set_cookie(response, kVisitorCookie, visit.cookie, to_ms(accounts::Sessions::kLifetime) / 1000);
  if (status == 429) response.headers.emplace_back("Retry-After", "30");
  return response;
}

FormFrame AccountSite::frame(const Visit& visit, const Status& problem) const {
  const auto& parts = parts_.accounts.parts();
  return {parts.project, accounts::form_token(visit.cookie), sentence_of(problem, parts.clock.now(), failures_),
          !problem.ok(), parts.clock.wall_now()};
}

gate::Response AccountSite::refuse(const Visit& visit, std::string_view title, const Status& why) const {
  return page(visit, render_notice(frame(visit, why), title), status_of(why));
}

gate::Response AccountSite::signed_in(const Visit& visit, const accounts::SignedIn& in) const {
  gate::Response response = redirect("/account");
  set_cookie(response, kSessionCookie, in.session, to_ms(accounts::Sessions::kLifetime) / 1000);
  set_cookie(response, kKnownCookie, in.known_browser, kKnownSeconds);
  if (!visit.new_visitor) set_cookie(response, kVisitorCookie, "", 0);
  return response;
}

gate::Response AccountSite::show_sign_up(const Visit& visit) {
  if (visit.viewer) return redirect("/account");
  const accounts::Policy& policy = parts_.accounts.parts().policy;
  return page(visit, render_sign_up({frame(visit), !policy.open_to_all, policy.approval, "", "",
                                     std::string(visit.request.parameter("invite").substr(0, 128))}));
}

gate::Response AccountSite::sign_up(const Visit& visit) {
  const accounts::SignUpForm form{visit.form.value("name"), visit.form.value("email"), visit.form.exact("password"),
                                  visit.form.value("invite")};
  const auto in = parts_.accounts.sign_up(form, {visit.request.remote_address, ""});
  if (in) return signed_in(visit, *in);
  const accounts::Policy& policy = parts_.accounts.parts().policy;
  return page(visit,
              render_sign_up({frame(visit, in.status()), !policy.open_to_all, policy.approval, form.display_name,
                              form.email, form.invite}),
              status_of(in.status()));
}

gate::Response AccountSite::show_log_in(const Visit& visit) {
  if (visit.viewer) return redirect("/account");
  return page(visit, render_log_in(frame(visit), "", parts_.accounts.parts().outbox.open()));
}

gate::Response AccountSite::log_in(const Visit& visit) {
  const std::string name = visit.form.value("name");
  const auto in = parts_.accounts.log_in(name, visit.form.exact("password"),
                                         {visit.request.remote_address, cookie(visit.request, kKnownCookie)});
  if (in) return signed_in(visit, *in);
  return page(visit, render_log_in(frame(visit, in.status()), name, parts_.accounts.parts().outbox.open()),
              status_of(in.status()));
}

gate::Response AccountSite::log_out(const Visit& visit) {
  if (visit.viewer) (void)parts_.accounts.sessions().close(visit.cookie).ok();
  gate::Response response = redirect("/login");
  set_cookie(response, kSessionCookie, "", 0);
  return response;
}

gate::Response AccountSite::show_password(const Visit& visit) {
  const std::string_view token = visit.request.parameter("token");
  if (!token.empty()) return page(visit, render_new_password(frame(visit), token.substr(0, 128)));
  return page(visit, render_forgot(frame(visit), parts_.accounts.parts().outbox.open()));
}

gate::Response AccountSite::password(const Visit& visit) {
  const std::string token = visit.form.value("token");
  if (!token.empty()) {
    const Status done = parts_.accounts.new_password(token, visit.form.exact("password"));
    if (!done.ok()) return page(visit, render_new_password(frame(visit, done), token), status_of(done));
    FormFrame told = frame(visit);
    told.message = "The new password is set. Log in with it.";
    return page(visit, render_log_in(told, "", parts_.accounts.parts().outbox.open()));
  }
  const Status asked = parts_.accounts.forgot(visit.form.value("email"), {visit.request.remote_address, ""});
  if (!asked.ok()) {
    return page(visit, render_forgot(frame(visit, asked), parts_.accounts.parts().outbox.open()), status_of(asked));
  }
  FormFrame told = frame(visit);
  told.message = "If this is the address of an account, a link is on its way. Look at your mail.";
  return page(visit, render_notice(told, "A new password"));
}

gate::Response AccountSite::show_verify(const Visit& visit) {
  return page(visit, render_verify(frame(visit), visit.request.parameter("token").substr(0, 128)));
}

gate::Response AccountSite::verify(const Visit& visit) {
  const Status done = parts_.accounts.verify(visit.form.value("token"));
  if (!done.ok()) return refuse(visit, "Your e-mail address", done);
  FormFrame told = frame(visit);
  told.message = "Thank you: the address is confirmed.";
  return page(visit, render_notice(told, "Your e-mail address"));
}

}  // namespace starling::web
