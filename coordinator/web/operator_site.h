// The operators' own pages, on a listener of their own: none of them is on the public one. Operators log in with an
// account that `operators add` made, which is not a volunteer's; its role says which actions it may take, and everybody
// may look. Actions are performed by operations/: checked, and written to the audit log as those of a command are.
//
//   GET, POST /login     POST /logout
//   GET /                what needs attention, runs, maintenance
//   GET /people          ?sought=: who waits, somebody's account and computers, who is kept out
//   GET /news, /audit    ?before=
//   POST /do/ACT         operator_acts.h
//
// Every POST carries a token that only this browser's cookie yields, and a session is made at log-in.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "coordinator/accounts/password_guard.h"
#include "coordinator/gate/router.h"
#include "coordinator/operations/desk.h"
#include "coordinator/web/operator_pages.h"
#include "shared/base/limited_log.h"

namespace starling::web {

class OperatorSite {
 public:
  struct Parts {
    std::string project;
    const db::Stores& stores;
    const Clock& clock;
    std::string secret;  // the coordinator's own; see accounts::own_secret()
    std::function<ServerView()> look;
    accounts::GuardLimits limits = {};
  };
  // Everything that `parts` refers to must outlive the site, and the site must outlive the router.
  explicit OperatorSite(Parts parts);

  void add_routes(gate::Router& router);

  static constexpr const char* kSessionCookie = "__Host-starling-operator";
  static constexpr const char* kVisitorCookie = "__Host-starling-operator-form";  // for a browser that is not logged in
  static constexpr const char* kKnownCookie = "__Host-starling-operator-known";   // outlives log-ins
  static constexpr Duration kSessionLifetime = std::chrono::hours(12);

 private:
  // A request, with its form and its cookies read.
  struct Visit {
    const gate::Request& request;
    Form form;
    std::string cookie;        // the session's or the visitor's
    bool new_visitor = false;  // the answer must set it
    std::string name;          // the session's operator; empty: nobody is logged in
    db::OperatorRole role = db::OperatorRole::viewer;
    Status problem = {};  // the error of the action just tried
  };
  using Answer = gate::Response (OperatorSite::*)(const Visit&);

  [[nodiscard]] Visit visit(const gate::Request& request) const;
  enum class For : std::uint8_t { anybody, operators };
  // Refuses a POST whose form is not this browser's own.
  gate::Response guarded(const gate::Request& request, For whom, Answer answer);
  [[nodiscard]] FormFrame form_frame(const Visit& visit) const;
  [[nodiscard]] OperatorFrame frame(const Visit& visit) const;
  [[nodiscard]] operations::Desk desk(const Visit& visit) const { return {parts_.stores, parts_.clock, visit.name}; }
  gate::Response page(const Visit& visit, std::string html) const;
  gate::Response refuse(Visit visit, std::string_view title, const Status& why) const;

  gate::Response show_log_in(const Visit& visit);
  gate::Response log_in(const Visit& visit);
  gate::Response log_out(const Visit& visit);
  gate::Response show_overview(const Visit& visit);
  gate::Response show_people(const Visit& visit);
  gate::Response show_news(const Visit& visit);
  gate::Response show_audit(const Visit& visit);
  gate::Response act(const Visit& visit);

  Result<std::string> open_session(const std::string& name);
  Result<std::string> overview(const Visit& visit) const;
  Result<std::string> people(const Visit& visit) const;

  const Parts parts_;
  accounts::PasswordGuard guard_;
  LimitedLog failed_log_ins_;
  mutable LimitedLog failures_;
};

}  // namespace starling::web
