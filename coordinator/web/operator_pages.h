// What an operator sees on the listener of their own: how the project stands, who waits and who is kept out, news, and
// the audit log.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/operations/maintenance.h"
#include "coordinator/web/account_pages.h"
#include "coordinator/web/form.h"
#include "coordinator/web/run_page.h"
#include "coordinator/web/status_page.h"
#include "db/stores/stores.h"

namespace starling::web {

// What the server knows and the database does not.
struct ServerView {
  ServerHealth health;
  std::optional<ShownRun> run;  // that is served
  std::optional<WallTime> last_backup;
  std::string backup_failure;  // of the last scheduled one; empty: none
  WallTime certificate_ends = {};
};

// Around each of an operator's pages.
struct OperatorFrame {
  FormFrame form;
  std::string name;  // whose page it is
};

struct OverviewPage {
  OperatorFrame frame;
  ServerView server;
  std::vector<db::Run> runs;  // in use
  std::size_t waiting = 0;    // sign-ups
  db::Activity activity;
  std::optional<WallTime> last_round;
  std::optional<operations::Maintenance> maintenance;
  Form typed{""};  // what did not work, to be typed again in part
};
std::string render_overview(const OverviewPage& page);

// What an operator should look at, the most urgent first, as HTML. Pure.
std::vector<std::string> needs_attention(const OverviewPage& page);

// Somebody who was looked for.
struct PersonShown {
  db::Account account;
  db::Login login;  // without a password where there is none
  std::vector<db::Host> hosts;
  db::ClaimSums unconfirmed;
};
struct ShownBan {
  db::Ban ban;
  std::string subject;  // for people
};
struct PeoplePage {
  OperatorFrame frame;
  std::vector<db::Account> waiting;  // oldest first
  std::string sought;                // a name; empty: nobody is looked for
  std::optional<PersonShown> person;
  std::vector<ShownBan> bans;   // in force, newest first
  std::size_t bans_hidden = 0;  // older ones
  Form typed{""};
};
std::string render_people(const PeoplePage& page);

struct NewsPage {
  OperatorFrame frame;
  std::vector<db::News> news;  // newest first
  Form typed{""};
};
std::string render_news(const NewsPage& page);

struct AuditPage {
  OperatorFrame frame;
  std::vector<db::AuditLine> lines;         // newest first
  std::optional<std::int64_t> next_before;  // where older ones begin
};
std::string render_audit(const AuditPage& page);

std::string render_operator_log_in(const FormFrame& frame, std::string_view name);
// A page of one message.
std::string render_operator_notice(const FormFrame& frame, std::string_view title);

}  // namespace starling::web
