// Pages about accounts: the forms to sign up, to log in and to set a new password, and the account page.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/stores/check_store.h"
#include "db/stores/people_stores.h"
#include "shared/base/clock.h"

namespace starling::web {

// The parts that every form page shares.
struct FormFrame {
  std::string project;
  std::string token;    // proves that the form belongs to this browser
  std::string message;  // an error, or a confirmation
  bool failed = false;  // the message is an error
  WallTime now;
};

// The sign-up form, with the answers that it begins with: those of a refused attempt, or of a link.
struct SignUpPage {
  FormFrame frame;
  bool needs_invite = false;
  bool approval = false;
  std::string name;  // the name typed before
  std::string email;
  std::string invite;
};
std::string render_sign_up(const SignUpPage& page);
std::string render_log_in(const FormFrame& frame, std::string_view name, bool sends_mail);
// Asks for the address; if the project sends no mail, names the person to ask instead.
std::string render_forgot(const FormFrame& frame, bool sends_mail);
std::string render_new_password(const FormFrame& frame, std::string_view link_token);
std::string render_verify(const FormFrame& frame, std::string_view link_token);
// A page with one message.
std::string render_notice(const FormFrame& frame, std::string_view title);

// Everything that an account's owner sees and may change. Nobody else is shown this page.
struct AccountPage {
  FormFrame frame;
  db::Account account;
  db::Login login;  // no password where the account has none
  std::vector<db::Host> hosts;
  std::string code;       // a code just made for a computer, or empty
  std::string code_link;  // the join link that contains the code
  bool sends_mail = false;
  std::optional<db::Team> team = std::nullopt;  // the team they belong to
  std::string wanted_team = {};                 // the team from the address, which they may want to join
  db::ClaimSums unconfirmed = {};               // sums over all their computers
  db::Totals earned = {};                       // in all runs
  db::Totals pending = {};                      // part of it
  db::CheckSums checks = {};                    // found in their computers' work
};
std::string render_account(const AccountPage& page);

// Everything the project stores about a person, as JSON.
struct PersonalData {
  std::string project;
  db::Account account;
  db::Login login;
  std::vector<db::Host> hosts;
  std::vector<db::LedgerEntry> ledger;  // newest first
  db::ClaimSums unconfirmed;            // claims of the last ninety days that no group confirmed
  WallTime now;
  db::Totals pending{};    // credit that is not final yet
  db::CheckSums checks{};  // found in their computers' work
};
std::string personal_data_json(const PersonalData& data);

}  // namespace starling::web
