// What people see of their accounts: forms to sign up, to log in and for a new password; the account page.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/stores/stores.h"
#include "shared/base/clock.h"

namespace starling::web {

// Around every form.
struct FormFrame {
  std::string project;
  std::string token;    // proves that the form is this browser's own
  std::string message;  // what went wrong, or what was done
  bool failed = false;  // which of the two
  WallTime now;
};

struct SignUpPage {
  FormFrame frame;
  bool needs_invite = false;
  bool approval = false;
  std::string name;  // as typed before
  std::string email;
  std::string invite;
};
std::string render_sign_up(const SignUpPage& page);
std::string render_log_in(const FormFrame& frame, std::string_view name, bool sends_mail);
// Asks for the address; without mail, says whom to ask.
std::string render_forgot(const FormFrame& frame, bool sends_mail);
std::string render_new_password(const FormFrame& frame, std::string_view link_token);
std::string render_verify(const FormFrame& frame, std::string_view link_token);
// A page of one message.
std::string render_notice(const FormFrame& frame, std::string_view title);

struct AccountPage {
  FormFrame frame;
  db::Account account;
  db::Login login;  // without a password where there is none
  std::vector<db::Host> hosts;
  std::string code;       // for a computer, just made; else empty
  std::string code_link;  // the join link with it
  bool sends_mail = false;
  std::optional<db::Team> team = std::nullopt;  // that they are in
  std::string wanted_team = {};                 // that they may want to join, as an address said
  db::ClaimSums unconfirmed = {};               // of all their computers
};
std::string render_account(const AccountPage& page);

// Everything the project knows about a person, as JSON.
struct PersonalData {
  std::string project;
  db::Account account;
  db::Login login;
  std::vector<db::Host> hosts;
  std::vector<db::LedgerEntry> ledger;  // newest first
  db::ClaimSums unconfirmed;            // claims that no group confirmed, in ninety days
  WallTime now;
};
std::string personal_data_json(const PersonalData& data);

}  // namespace starling::web
