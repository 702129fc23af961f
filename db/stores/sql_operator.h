// Operators' records, in SQL. Inside db/stores only.
#pragma once

#include "db/stores/sql_stores.h"

namespace starling::db {

// The table news.
class SqlNewsStore final : public NewsStore {
 public:
  explicit SqlNewsStore(Access access) : access_(access) {}
  Result<std::int64_t> add(const News& news) override;
  Result<std::vector<News>> list(int limit) const override;
  Status remove(std::int64_t id) override;

 private:
  Access access_;
};

// The table ban.
class SqlBanStore final : public BanStore {
 public:
  explicit SqlBanStore(Access access) : access_(access) {}
  Result<std::int64_t> add(const Ban& ban) override;
  Result<std::vector<Ban>> list() const override;
  Status remove(std::int64_t id) override;

 private:
  Access access_;
};

// The table setting.
class SqlSettingStore final : public SettingStore {
 public:
  explicit SqlSettingStore(Access access) : access_(access) {}
  Result<std::string> keep(const std::string& name, const std::string& fresh) override;
  Result<std::optional<std::string>> find(const std::string& name) const override;
  Status set(const std::string& name, const std::string& value) override;
  Status remove(const std::string& name) override;

 private:
  Access access_;
};

// The table audit.
class SqlAuditStore final : public AuditStore {
 public:
  explicit SqlAuditStore(Access access) : access_(access) {}
  Status add(const AuditLine& line, const Chain& chain) override;
  Result<std::vector<AuditLine>> list(int limit, std::int64_t before) const override;
  Result<std::vector<AuditLine>> list_on(int limit, std::int64_t after) const override;

 private:
  Access access_;
};

// The tables operator and operator_session.
class SqlOperatorStore final : public OperatorStore {
 public:
  explicit SqlOperatorStore(Access access) : access_(access) {}
  Status set(const Operator& account) override;
  Result<Operator> find(const std::string& name) const override;
  Result<std::vector<Operator>> list() const override;
  Status set_role(const std::string& name, OperatorRole role) override;
  Status remove(const std::string& name) override;
  Status open(const Digest& token_hash, const std::string& name, WallTime now, WallTime expires) override;
  Result<Operator> session(const Digest& token_hash, WallTime now) const override;
  Status close(const Digest& token_hash) override;

 private:
  Access access_;
};

}  // namespace starling::db
