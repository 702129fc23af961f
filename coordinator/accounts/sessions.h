// The sessions of browsers that are logged in. The browser has a random token, the database its hash.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "db/stores/login_stores.h"
#include "shared/base/clock.h"
#include "shared/base/result.h"

namespace starling::accounts {

// The person who looks at a page.
struct Viewer {
  AccountId account_id = 0;
  Digest session;
};

class Sessions {
 public:
  static constexpr Duration kLifetime = std::chrono::hours(24 * 14);

  // Both must outlive the sessions.
  Sessions(db::SessionStore& store, const Clock& clock) : store_(store), clock_(clock) {}

  // A new session's token, never one that a browser brought: nobody can have planted it.
  Result<std::string> open(AccountId account);
  [[nodiscard]] std::optional<Viewer> viewer(std::string_view token) const;
  Status close(std::string_view token);
  // Closes all sessions of the account except `but`.
  Status close_all(AccountId account, const std::optional<Digest>& but = std::nullopt);

 private:
  db::SessionStore& store_;
  const Clock& clock_;
};

// The token that a form needs to count as this browser's own: it cannot be derived without the cookie.
std::string form_token(std::string_view cookie);

}  // namespace starling::accounts
