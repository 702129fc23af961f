#include "client/daemon/update_keeper.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "client/daemon/run_preparation.h"
#include "shared/base/log.h"
#include "shared/base/version.h"
#include "shared/crypto/secrets.h"

namespace starling::daemon {
namespace {

constexpr Duration kWellAfter = std::chrono::seconds(60);  // a version on trial that ran this long works
constexpr Duration kRulesWithin = std::chrono::seconds(10);
constexpr double kMegabyte = 1e6;

double throw_dice() { return static_cast<double>(crypto::random_u64() >> 11) * 0x1p-53; }

}  // namespace

UpdateKeeper::UpdateKeeper(UpdateOptions options, const Clock& clock)
    : options_(std::move(options)),
      clock_(clock),
      installation_(updates::Installation::of(options_.program)),
      loop_(clock) {
  auto source = updates::load_update_source(options_.source);
  if (source.ok()) {
    updater_ = std::make_unique<updates::Updater>(std::move(*source), installation_, options_.data_dir, options_.line);
  } else if (source.error().code != ErrorCode::not_found) {
    log_warning("{}", source.error().message);
  }
  agenda_.has_source = updater_ != nullptr;
  agenda_.can_install = installation_.has_value();
  agenda_.well_at = clock_.now() + kWellAfter;
  {
    const MutexLock lock(mutex_);
    status_.state = updater_ ? "unknown" : "off";
    status_.can_install = updater_ && installation_.has_value();
    if (!updater_) status_.text = "this installation does not look for updates: nothing says where they are";
  }
  loop_.start("updates");
}

UpdateKeeper::~UpdateKeeper() {
  cancel();
  loop_.stop();
}

void UpdateKeeper::cancel() {
  {
    const MutexLock lock(mutex_);
    cancelled_ = true;
  }
  news_.notify_all();
  if (updater_) updater_->cancel();
}

void UpdateKeeper::hurry() {
  loop_.post([this] {
    const bool lately = clock_.now() - checked_at_ < updates::kRetryAfter;
    if (checked_at_ != TimePoint() && lately) return;
    agenda_.next_check = clock_.now();
    work();
  });
}

UpdateRules UpdateKeeper::rules() const {
  const MutexLock lock(mutex_);
  return rules_.value_or(UpdateRules());
}

wire::UpdateStatus UpdateKeeper::status() const {
  const MutexLock lock(mutex_);
  return status_;
}

std::string UpdateKeeper::waiting() const {
  const MutexLock lock(mutex_);
  return waiting_;
}

void UpdateKeeper::obey(const UpdateRules& rules) {
  {
    const MutexLock lock(mutex_);
    if (rules_ == rules) return;
    rules_ = rules;
  }
  news_.notify_all();
  loop_.post([this] { work(); });
}

void UpdateKeeper::wait_for_rules() {
  const TimePoint give_up = clock_.now() + kRulesWithin;
  const MutexLock lock(mutex_);
  while (!rules_ && !cancelled_ && clock_.now() < give_up) news_.wait_for(mutex_, kRulesWithin);
}

Result<std::string> UpdateKeeper::ask(bool install) {
  if (!updater_) return Error{ErrorCode::failed_precondition, status().text};
  wait_for_rules();
  Result<std::string> answer = Error{ErrorCode::unavailable, "the daemon is ending"};
  loop_.run_and_wait([this, install, &answer] {
    const UpdateRules now = rules();
    if (!now.network) {
      answer = Error{ErrorCode::failed_precondition, "your rules do not let Starling use the network now"};
      return;
    }
    if (install) agenda_.asked_to_install = true;
    agenda_.next_try = {};
    check(now);
    const wire::UpdateStatus found = status();
    answer = check_failed_ ? Result<std::string>(Error{ErrorCode::unavailable, found.text}) : found.text;
    loop_.post([this] { work(); });
  });
  return answer;
}

void UpdateKeeper::say(const std::string& state, const std::string& text) {
  {
    const MutexLock lock(mutex_);
    if (status_.state == state && status_.text == text) return;
    status_.state = state;
    status_.text = text;
    if (updater_) status_.checked = updater_->last_check();
    status_.version = found_ ? found_->feed.version : "";
    status_.notes = found_ ? found_->feed.notes : "";
    status_.notes_url = found_ ? found_->feed.notes_url : "";
  }
  options_.changed();
}

void UpdateKeeper::work() {
  const UpdateRules rules = this->rules();
  if (updater_ && agenda_.next_check == kNever) {
    const Duration until = updates::until_check(updater_->last_check(), false, clock_.wall_now(), throw_dice());
    agenda_.next_check = clock_.now() + until;
  }
  const UpdateAgenda::Due due = agenda_.due(clock_.now(), rules);
  if (due.end_trial) {
    installation_->end_trial();
    agenda_.well_at = kNever;
  }
  if (due.check) check(rules);
  if (agenda_.due(clock_.now(), rules).install) install(rules);
  loop_.set_timer(agenda_.alarm(clock_.now(), rules), [this] { work(); });
}

void UpdateKeeper::check(const UpdateRules& rules) {
  checked_at_ = clock_.now();
  auto found = updater_->check(clock_.wall_now());
  check_failed_ = !found.ok();
  agenda_.next_check =
      clock_.now() + updates::until_check(updater_->last_check(), check_failed_, clock_.wall_now(), throw_dice());
  if (!found.ok()) {
    log_warning("{}", found.error().message);
    return say("failed", found.error().message);
  }
  using Kind = updates::Judgement::Kind;
  const std::string release = "Starling " + found->feed.version;
  const Kind kind = found->judgement.kind;
  found_.reset();
  agenda_.found = false;
  if (kind == Kind::current) return say("current", fmt::format("Starling {} is the newest version", kVersion));
  if (kind == Kind::failed_here) {
    check_failed_ = true;
    return say("failed", release + " did not work on this computer and was left again; the next version is tried");
  }
  found_ = std::move(*found);
  agenda_.found = kind == Kind::newer;
  log_info("{} is out; this is {}", release, kVersion);
  if (kind == Kind::no_file || !installation_) {
    if (kind == Kind::no_file) return say("available", release + " is out, but not as a download for this computer");
    return say("available", release + " is out: update it the way Starling was installed, such as with apt");
  }
  if (rules.install || agenda_.asked_to_install) return say("available", release + " is out, and will be installed");
  say("available", release + " is out: starling update --install");
}

void UpdateKeeper::install(const UpdateRules& rules) {
  const std::string version = found_->feed.version;
  const std::int64_t bytes = found_->judgement.file.bytes;
  const auto words = [&](std::int64_t done) {
    return fmt::format("downloading Starling {}: {:.0f} of {:.0f} MB", version, static_cast<double>(done) / kMegabyte,
                       static_cast<double>(bytes) / kMegabyte);
  };
  say("downloading", words(0));
  DownloadSteps steps(bytes);
  const Status fetched = updater_->fetch(*found_, rules.free_bytes_min, [&](std::int64_t done) {
    if (steps.is_news(done)) say("downloading", words(done));
    const UpdateRules now = this->rules();
    return now.network && now.large;
  });
  if (!fetched.ok()) {
    agenda_.next_try = clock_.now() + updates::kRetryAfter;
    log_warning("{}", fetched.error().message);
    return say("failed", fetched.error().message);
  }
  log_info("Starling {} is unpacked and waits for the end of the round", version);
  {
    const MutexLock lock(mutex_);
    waiting_ = version;
  }
  agenda_.waiting = true;
  say("ready", fmt::format("Starling {} starts as soon as this round is over", version));
}

}  // namespace starling::daemon
