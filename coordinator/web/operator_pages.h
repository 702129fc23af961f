// Pages on the operators' own listener: the state of the project, sign-ups that wait, bans, news, and the audit log.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/core/devices_in_use.h"
#include "coordinator/core/failing_members.h"
#include "coordinator/core/numeric_classes.h"
#include "coordinator/operations/maintenance.h"
#include "coordinator/web/account_pages.h"
#include "coordinator/web/form.h"
#include "coordinator/web/run_page.h"
#include "coordinator/web/status_page.h"
#include "db/stores/stores.h"

namespace starling::web {

// State that the server knows and the database does not.
struct ServerView {
  ServerHealth health;
  std::optional<ShownRun> run;  // the run that is served
  std::optional<WallTime> last_backup;
  std::string backup_failure;  // error of the last scheduled backup; empty: none
  WallTime certificate_ends = {};
  core::FailingMembers failing = {};  // in the run that is served
  core::DevicesInUse devices = {};    // so are these
  std::vector<core::ClassFigures> classes = {};
};

// The frame of each of an operator's pages.
struct OperatorFrame {
  FormFrame form;
  std::string name;  // the operator's name
  db::OperatorRole role = db::OperatorRole::all;
};

// Work that was found wrong, and whose it is.
struct MissShown {
  db::WorkCheck check;
  std::string name;  // the account's; empty: it has none
};

// The first page for operators, read from the database and the server at one moment.
struct OverviewPage {
  OperatorFrame frame;
  ServerView server;
  std::vector<db::Run> runs;  // in use
  std::size_t waiting = 0;    // sign-ups
  db::Activity activity;
  std::optional<WallTime> last_round;
  std::optional<operations::Maintenance> maintenance;
  Form typed{""};                   // the form that failed, to be filled in again in part
  db::CheckSums checks{};           // found in volunteers' work, in all runs
  db::Totals pending{};             // credit that waits for such checks
  std::vector<MissShown> missed{};  // the newest
};
std::string render_overview(const OverviewPage& page);

// Matters that an operator should look at, the most urgent first, as HTML. Pure.
std::vector<std::string> needs_attention(const OverviewPage& page);

// The person found by a search.
struct PersonShown {
  db::Account account;
  db::Login login;  // no password where the account has none
  std::vector<db::Host> hosts;
  db::ClaimSums unconfirmed;
};

// A ban whose subject has been looked up, so that people can read it.
struct ShownBan {
  db::Ban ban;
  std::string subject;  // text for people
};

// Sign-ups, one sought person, and bans, with the forms that act on them.
struct PeoplePage {
  OperatorFrame frame;
  std::vector<db::Account> waiting;  // oldest first
  std::string sought;                // a name; empty: no search
  std::optional<PersonShown> person;
  std::vector<ShownBan> bans;   // in force, newest first
  std::size_t bans_hidden = 0;  // number of older ones
  Form typed{""};
};
std::string render_people(const PeoplePage& page);

// Recent news, with forms to post and to remove some.
struct NewsPage {
  OperatorFrame frame;
  std::vector<db::News> news;  // newest first
  Form typed{""};
};
std::string render_news(const NewsPage& page);

// One page of the audit log.
struct AuditPage {
  OperatorFrame frame;
  std::vector<db::AuditLine> lines;         // newest first
  std::optional<std::int64_t> next_before;  // where older lines begin
};
std::string render_audit(const AuditPage& page);

std::string render_operator_log_in(const FormFrame& frame, std::string_view name);
// A page with one message.
std::string render_operator_notice(const FormFrame& frame, std::string_view title);

}  // namespace starling::web
