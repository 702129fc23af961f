#include "coordinator/accounts/sessions.h"

#include "shared/crypto/digest.h"
#include "shared/crypto/secrets.h"

namespace starling::accounts {

Result<std::string> Sessions::open(AccountId account) {
  std::string token = crypto::make_token();
  const WallTime now = clock_.wall_now();
  STARLING_TRY(store_.open({crypto::hash_token(token), account, now, {now.unix_ms + to_ms(kLifetime)}}));
  return token;
}

std::optional<Viewer> Sessions::viewer(std::string_view token) const {
  if (token.empty()) return std::nullopt;
  const Result<db::WebSession> session = store_.find(crypto::hash_token(token), clock_.wall_now());
  if (!session) return std::nullopt;
  return Viewer{session->account_id, session->token_hash};
}

Status Sessions::close(std::string_view token) { return store_.close(crypto::hash_token(token)); }

Status Sessions::close_all(AccountId account, const std::optional<Digest>& but) {
  return store_.close_all(account, but);
}

std::string form_token(std::string_view cookie) {
  return crypto::sha256("starling form\n" + std::string(cookie)).hex().substr(0, 32);
}

}  // namespace starling::accounts
