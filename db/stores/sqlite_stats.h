// What statistics sites are told, over SQLite. Inside db/stores only.
#pragma once

#include "db/stores/sqlite_stores.h"

namespace starling::db {

class SqliteStatsStore final : public StatsStore {
 public:
  explicit SqliteStatsStore(Access access) : access_(access) {}
  Status visit(const StatsVisitor& visitor, WallTime deleted_since) const override;

 private:
  Access access_;
};

}  // namespace starling::db
