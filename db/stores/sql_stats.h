// Statistics for other sites, in SQL. Inside db/stores only.
#pragma once

#include "db/stores/sql_stores.h"

namespace starling::db {

class SqlStatsStore final : public StatsStore {
 public:
  explicit SqlStatsStore(Access access) : access_(access) {}
  Status visit(const StatsVisitor& visitor, WallTime deleted_since) const override;

 private:
  Access access_;
};

}  // namespace starling::db
