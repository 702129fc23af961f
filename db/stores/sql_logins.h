// Logins, sessions and changes of accounts in SQL. Inside db/stores only.
#pragma once

#include "db/stores/sql_stores.h"

namespace starling::db {

// The table login, and the names of accounts.
class SqlLoginStore final : public LoginStore {
 public:
  explicit SqlLoginStore(Access access) : access_(access) {}
  Result<AccountId> sign_up(const SignUp& request) override;
  Result<Login> find(const std::string& name_or_email) const override;
  Result<Login> of(AccountId account) const override;
  Result<std::vector<Login>> claiming(const std::string& email) const override;
  Status set(const Login& login) override;
  Status verify(AccountId account, const std::string& email, WallTime now) override;

 private:
  Access access_;
};

// The tables web_session and ticket.
class SqlSessionStore final : public SessionStore {
 public:
  explicit SqlSessionStore(Access access) : access_(access) {}
  Status open(const WebSession& session) override;
  Result<WebSession> find(const Digest& token_hash, WallTime now) const override;
  Status close(const Digest& token_hash) override;
  Status close_all(AccountId account, const std::optional<Digest>& but) override;
  Status issue(const Ticket& ticket, WallTime now) override;
  Result<Ticket> look_at(const Digest& token_hash, TicketPurpose purpose, WallTime now) const override;
  Result<Ticket> spend(const Digest& token_hash, TicketPurpose purpose, WallTime now) override;

 private:
  Access access_;
};

// Changes to the tables account and host. An erased account loses its login, sessions and tickets, too.
class SqlAccountKeeper final : public AccountKeeper {
 public:
  explicit SqlAccountKeeper(Access access) : access_(access) {}
  Status rename(AccountId account, const std::string& display_name) override;
  Status set_state(AccountId account, AccountState state) override;
  Status show_computers(AccountId account, bool shown) override;
  Status set_vouched(AccountId account, bool vouched) override;
  Status set_auditor(AccountId account, bool auditor) override;
  Status watch(AccountId account, WallTime until) override;
  Status set_hosts_max(AccountId account, std::optional<std::int64_t> most) override;
  Status label_host(AccountId account, const PeerId& peer, const std::string& label) override;
  Status erase(AccountId account, WallTime now) override;
  Result<std::vector<Account>> list(AccountState state, int limit, std::int64_t offset) const override;

 private:
  Access access_;
};

}  // namespace starling::db
