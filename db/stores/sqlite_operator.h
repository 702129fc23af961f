// News and bans over SQLite. Inside db/stores only.
#pragma once

#include "db/stores/sqlite_stores.h"

namespace starling::db {

class SqliteNewsStore final : public NewsStore {
 public:
  explicit SqliteNewsStore(Access access) : access_(access) {}
  Result<std::int64_t> add(const News& news) override;
  Result<std::vector<News>> list(int limit) const override;
  Status remove(std::int64_t id) override;

 private:
  Access access_;
};

class SqliteBanStore final : public BanStore {
 public:
  explicit SqliteBanStore(Access access) : access_(access) {}
  Result<std::int64_t> add(const Ban& ban) override;
  Result<std::vector<Ban>> list() const override;
  Status remove(std::int64_t id) override;

 private:
  Access access_;
};

}  // namespace starling::db
