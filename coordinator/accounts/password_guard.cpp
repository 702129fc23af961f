#include "coordinator/accounts/password_guard.h"

#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <thread>

#include "coordinator/gate/text.h"
#include "shared/crypto/digest.h"
#include "shared/crypto/secrets.h"

namespace starling::accounts {
namespace {

crypto::ScryptOptions cost(const GuardLimits& limits) { return {.log2_n = limits.hash_log2_n, .r = 8, .p = 3}; }

Error too_many(Duration wait) {
  return {ErrorCode::resource_exhausted, fmt::format("too many attempts; try again in {:.0f} s, or ask for a new "
                                                     "password",
                                                     std::ceil(std::max(1.0, to_seconds(wait))))};
}

// Calls `work` on a thread of low priority: a flood of guesses then delays no other work, and a person who logs in
// waits a moment longer while the server is busy.
template <typename Work>
auto with_patience(const Work& work) {
  constexpr int kNicer = 10;
  std::optional<decltype(work())> result;
  std::thread([&] {
    ::setpriority(PRIO_PROCESS, 0, kNicer);  // affects this thread alone (Linux)
    result = work();
  }).join();
  return std::move(*result);
}

// Attempts count for the account, in whichever spelling its name is typed. An address counts for itself: that it is an
// account's is for nobody to find out.
std::string account_key(const std::string& name, const Result<db::Login>& login) {
  if (login && name.find('@') == std::string::npos) {
    return fmt::format("{}\n{}", login->account_id, login->password);
  }
  std::string key = name;
  std::transform(key.begin(), key.end(), key.begin(), gate::to_lower);
  return key;
}

}  // namespace

Result<std::string> hash_for_keeping(const std::string& password, const GuardLimits& limits) {
  return crypto::hash_password(password, cost(limits));
}

// One of the few permits to compute a hash at this moment.
class PasswordGuard::Slot {
 public:
  explicit Slot(PasswordGuard& guard)
      : guard_(guard), taken_(guard.hashing_.fetch_add(1) < guard.limits_.hashes_at_once) {}
  ~Slot() { guard_.hashing_.fetch_sub(1); }
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

  [[nodiscard]] Status status() const {
    if (taken_) return {};
    return Error{ErrorCode::resource_exhausted, "many people log in at this moment; try again in a few seconds"};
  }

 private:
  PasswordGuard& guard_;
  const bool taken_;
};

PasswordGuard::PasswordGuard(Find find, const Clock& clock, std::string secret, const GuardLimits& limits)
    : find_(std::move(find)),
      clock_(clock),
      secret_(std::move(secret)),
      limits_(limits),
      nobodys_(crypto::hash_of_no_password(cost(limits))),
      addresses_(crypto::random_u64(), clock.now(), limits.by_address),
      accounts_(crypto::random_u64(), clock.now(), limits.by_account) {}

Result<db::Login> PasswordGuard::check(const std::string& name, const std::string& password, const Caller& caller) {
  const TimePoint now = clock_.now();
  const std::string from = limit_key(caller.address);
  if (!from.empty()) {
    if (const Duration wait = addresses_.take(from, now); wait > Duration{}) return too_many(wait);
  }
  const Result<db::Login> login = find_(name);
  if (!login && login.error().code != ErrorCode::not_found) return login.error();
  const bool known = login.ok() && !caller.known_browser.empty() && caller.known_browser == known_browser(*login);
  const std::string key = known ? caller.known_browser : account_key(name, login);
  if (const Duration wait = accounts_.wait(key, now); wait > Duration{}) return too_many(wait);

  const Slot slot(*this);
  STARLING_TRY(slot.status());
  STARLING_ASSIGN(const bool right,
                  with_patience([&] { return crypto::verify_password(password, login ? login->password : nobodys_); }));
  if (right && login) return login;
  (void)accounts_.take(key, now);
  return Error{ErrorCode::unauthenticated, "this name or address and this password do not belong together"};
}

Result<std::string> PasswordGuard::hash(const std::string& password) {
  const Slot slot(*this);
  STARLING_TRY(slot.status());
  return with_patience([&] { return hash_for_keeping(password, limits_); });
}

std::string PasswordGuard::known_browser(const db::Login& login) const {
  return crypto::keyed_digest(secret_, fmt::format("known browser\n{}\n{}", login.account_id, login.password)).hex();
}

}  // namespace starling::accounts
