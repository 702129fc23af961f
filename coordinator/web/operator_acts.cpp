#include "coordinator/web/operator_acts.h"

#include <fmt/core.h>

#include <charconv>
#include <map>
#include <optional>

#include "coordinator/operations/maintenance.h"
#include "coordinator/operations/people.h"
#include "coordinator/operations/runs.h"

namespace starling::web {
namespace {

using operations::Desk;

constexpr std::int64_t kDaysMax = 3650;
constexpr std::int64_t kHoursMax = 720;

Result<std::int64_t> number_of(const Form& form, std::string_view field) {
  const std::string text = form.value(field);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  return Error{ErrorCode::invalid_argument, fmt::format("'{}' is no number", text.substr(0, 40))};
}

// Empty if the field was left empty.
Result<std::optional<Duration>> time_of(const Form& form, std::string_view field, Duration unit, std::int64_t max) {
  if (form.value(field).empty()) return std::optional<Duration>();
  STARLING_ASSIGN(const std::int64_t number, number_of(form, field));
  if (number < 1 || number > max) {
    return Error{ErrorCode::invalid_argument, fmt::format("{}: 1 to {}, or nothing", field, max)};
  }
  return std::optional(number * unit);
}

Result<db::Account> account_of(const Desk& desk, const Form& form) {
  STARLING_ASSIGN(const std::int64_t account, number_of(form, "account"));
  return desk.stores.people.accounts.find_account(account);
}

Status approve(const Desk& desk, const Form& form) {
  STARLING_ASSIGN(const db::Account account, account_of(desk, form));
  return operations::approve(desk, account);
}

Status reject(const Desk& desk, const Form& form) {
  STARLING_ASSIGN(const db::Account account, account_of(desk, form));
  if (account.state != db::AccountState::waiting) {
    return Error{ErrorCode::failed_precondition, fmt::format("'{}' does not wait any more", account.display_name)};
  }
  return operations::remove_account(desk, account.id);
}

Status set_revoked(const Desk& desk, const Form& form, bool revoked) {
  STARLING_ASSIGN(const PeerId computer, PeerId::from_hex(form.value("computer")));
  return operations::set_revoked(desk, computer, revoked);
}

Status revoke(const Desk& desk, const Form& form) { return set_revoked(desk, form, true); }
Status admit(const Desk& desk, const Form& form) { return set_revoked(desk, form, false); }

Status ban(const Desk& desk, const Form& form) {
  operations::BanWanted wanted{form.value("kind") + ":" + form.value("subject"), form.value("reason"), {}};
  STARLING_ASSIGN(wanted.lasts, time_of(form, "days", std::chrono::hours(24), kDaysMax));
  return operations::add_ban(desk, wanted).status();
}

Status unban(const Desk& desk, const Form& form) {
  STARLING_ASSIGN(const std::int64_t id, number_of(form, "ban"));
  return operations::remove_ban(desk, id);
}

Status post_news(const Desk& desk, const Form& form) {
  return operations::post_news(desk, form.value("title"), form.lines("body")).status();
}

Status remove_news(const Desk& desk, const Form& form) {
  STARLING_ASSIGN(const std::int64_t id, number_of(form, "item"));
  return operations::remove_news(desk, id);
}

template <Status (*act)(const Desk&, const db::Run&)>
Status with_run(const Desk& desk, const Form& form) {
  STARLING_ASSIGN(const db::Run run, desk.stores.training.runs.find(form.value("run")));
  return act(desk, run);
}

Status begin_maintenance(const Desk& desk, const Form& form) {
  operations::Maintenance wanted{form.value("message")};
  STARLING_ASSIGN(const auto lasts, time_of(form, "hours", std::chrono::hours(1), kHoursMax));
  if (lasts) wanted.until = {desk.clock.wall_now().unix_ms + to_ms(*lasts)};
  return operations::begin_maintenance(desk, wanted);
}

Status end_maintenance(const Desk& desk, const Form&) { return operations::end_maintenance(desk); }

}  // namespace

const OperatorAct* operator_act(std::string_view name) {
  constexpr db::OperatorRole kRuns = db::OperatorRole::run_manager;
  static const std::map<std::string_view, OperatorAct> acts = {
      {"approve", {"/people", approve, "They may take part."}},
      {"reject", {"/people", reject, "The account is gone."}},
      {"revoke", {"/people", revoke, "The computer is kept out from its next call on."}},
      {"admit", {"/people", admit, "The computer may take part again."}},
      {"ban", {"/people", ban, "They are kept out from now on."}},
      {"unban", {"/people", unban, "The ban is lifted."}},
      {"post-news", {"/news", post_news, "It is on the project's first page."}},
      {"remove-news", {"/news", remove_news, "It is gone."}},
      {"start", {"/", with_run<operations::start_run>, "The run is running.", kRuns}},
      {"pause", {"/", with_run<operations::pause_run>, "The run is paused; the round under way ends first.", kRuns}},
      {"retire", {"/", with_run<operations::retire_run>, "The run is retired.", kRuns}},
      {"maintenance", {"/", begin_maintenance, "Volunteers are told.", kRuns}},
      {"serve-again", {"/", end_maintenance, "The project serves as ever.", kRuns}},
  };
  const auto found = acts.find(name);
  return found == acts.end() ? nullptr : &found->second;
}

}  // namespace starling::web
