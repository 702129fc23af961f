// The browser's side of accounts: signing up, logging in, and the account page. The routes are:
//
//   GET, POST /signup, /login, /password (a new one), /verify      POST /logout
//   GET /account, /account/export
//   POST /account/… profile, email, verify, password, others, code, computer, revoke, admit, delete, join-team,
//   leave-team, found-team
//
// Every POST carries a token that only this browser's cookie yields, and is answered with a redirect, so that "reload"
// repeats nothing. A session's cookie is made at log-in and never taken over from before it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "coordinator/accounts/accounts.h"
#include "coordinator/gate/router.h"
#include "coordinator/operations/maintenance.h"
#include "coordinator/web/account_pages.h"
#include "coordinator/web/form.h"
#include "shared/base/limited_log.h"

namespace starling::web {

class AccountSite {
 public:
  struct Parts {
    accounts::Accounts& accounts;
    std::function<std::string(const std::string& code)> join_link;  // the join link with that code as its invite
    const operations::MaintenanceSign* maintenance = nullptr;       // null: never under maintenance
  };
  // Everything that `parts` refers to must outlive the site, and the site must outlive the router.
  explicit AccountSite(Parts parts) : parts_(std::move(parts)) {}

  void add_routes(gate::Router& router);

  static constexpr const char* kSessionCookie = "__Host-starling";
  static constexpr const char* kVisitorCookie = "__Host-starling-form";  // for a browser that is not logged in
  static constexpr const char* kKnownCookie = "__Host-starling-known";   // outlives log-ins

 private:
  // A request, with its form and its cookies read.
  struct Visit {
    const gate::Request& request;
    Form form;
    std::optional<accounts::Viewer> viewer;
    std::string cookie;        // the session's or the visitor's
    bool new_visitor = false;  // the answer must set it
  };
  using Show = gate::Response (AccountSite::*)(const Visit&);
  using Act = Result<std::string> (AccountSite::*)(const Visit&);  // returns a key of done_texts()

  Visit visit(const gate::Request& request) const;
  // Refuses a POST whose form is not this browser's own.
  gate::Response guarded(const gate::Request& request, Show show);
  [[nodiscard]] std::optional<operations::Maintenance> maintenance() const;
  gate::Response page(const Visit& visit, std::string html, int status = 200) const;
  gate::Response put_off(const Visit& visit, const operations::Maintenance& maintenance) const;
  [[nodiscard]] FormFrame frame(const Visit& visit, const Status& problem = {}) const;
  gate::Response refuse(const Visit& visit, std::string_view title, const Status& why) const;
  gate::Response signed_in(const Visit& visit, const accounts::SignedIn& in) const;

  gate::Response show_sign_up(const Visit& visit);
  gate::Response sign_up(const Visit& visit);
  gate::Response show_log_in(const Visit& visit);
  gate::Response log_in(const Visit& visit);
  gate::Response log_out(const Visit& visit);
  gate::Response show_password(const Visit& visit);
  gate::Response password(const Visit& visit);
  gate::Response show_verify(const Visit& visit);
  gate::Response verify(const Visit& visit);
  gate::Response show_account(const Visit& visit);
  gate::Response export_data(const Visit& visit);
  gate::Response act(const Visit& visit);

  gate::Response account(const Visit& visit, const Status& problem, const std::string& code = "");
  Status check_password(const Visit& visit, std::string_view field);
  Result<std::string> change_profile(const Visit& visit);
  Result<std::string> change_email(const Visit& visit);
  Result<std::string> ask_verification(const Visit& visit);
  Result<std::string> change_password(const Visit& visit);
  Result<std::string> log_others_out(const Visit& visit);
  Result<std::string> label_computer(const Visit& visit);
  Result<std::string> revoke_computer(const Visit& visit);
  Result<std::string> admit_computer(const Visit& visit);
  Status set_revoked(const Visit& visit, bool revoked);
  Result<std::string> join_team(const Visit& visit);
  Result<std::string> leave_team(const Visit& visit);
  Result<std::string> found_team(const Visit& visit);
  Result<std::string> delete_account(const Visit& visit);

  const Parts parts_;
  mutable LimitedLog failures_;
};

}  // namespace starling::web
