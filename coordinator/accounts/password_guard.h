// Password checks that make guessing slow: each address and each account has a bucket of attempts. A browser that
// logged in before has a bucket of its own, so that an attack on an account does not lock its owner out. An unknown
// name takes as long to check, and gets an equal answer.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "coordinator/accounts/keyed_limiter.h"
#include "db/stores/login_stores.h"
#include "shared/base/clock.h"
#include "shared/base/result.h"

namespace starling::accounts {

// The origin of an attempt, which selects the buckets that it is taken from.
struct Caller {
  std::string address;        // the socket's address
  std::string known_browser;  // proof of an earlier log-in, as known_browser() made it; or empty
};

// Rates of guessing, and the cost of one guess. Stored hashes name their own cost, so another cost holds for new
// passwords only.
struct GuardLimits {
  KeyedLimits by_address{30, 1.0 / 20};  // allows a class of a school to log in at once
  KeyedLimits by_account{10, 1.0 / 30};
  int hashes_at_once = 2;  // each takes 32 MiB and a third of a second of one core; other workers stay free
  int hash_log2_n = 15;    // with r = 8, p = 3: OWASP's second choice, in a quarter of the first one's memory
};

// A password's hash in the form that the guard expects, for commands.
Result<std::string> hash_for_keeping(const std::string& password, const GuardLimits& limits = {});

class PasswordGuard {
 public:
  using Find = std::function<Result<db::Login>(const std::string& name)>;  // or error not_found
  // `secret` is the coordinator's own, for known_browser(). The clock, and everything that `find` uses, must outlive
  // the guard.
  PasswordGuard(Find find, const Clock& clock, std::string secret, const GuardLimits& limits = {});

  // The login of the name, if the password is right. Errors: unauthenticated: it is not; resource_exhausted: too many
  // attempts, or too many people at this moment.
  Result<db::Login> check(const std::string& name, const std::string& password, const Caller& caller);
  // The hash to store. Error resource_exhausted: as for check().
  Result<std::string> hash(const std::string& password);
  // A proof that a browser keeps after a log-in; it becomes invalid with the next change of the password.
  [[nodiscard]] std::string known_browser(const db::Login& login) const;

 private:
  class Slot;

  const Find find_;
  const Clock& clock_;
  const std::string secret_;
  const GuardLimits limits_;
  const std::string nobodys_;  // compared with the passwords of unknown accounts, so that they take as long
  KeyedLimiter addresses_;
  KeyedLimiter accounts_;
  std::atomic<int> hashing_ = 0;
};

}  // namespace starling::accounts
