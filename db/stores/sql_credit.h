// The stores about credit in SQL. Inside db/stores only.
#pragma once

#include <memory>

#include "db/stores/sql_stores.h"

namespace starling::db {

// Boards and profiles, read from the sums that each write of contributions brings up to date.
class SqlStandingsStore final : public StandingsStore {
 public:
  explicit SqlStandingsStore(Access access);
  ~SqlStandingsStore() override;
  Result<Standings> page(const StandingsRequest& request) const override;
  Result<Profile> profile(const ProfileRequest& request) const override;
  Result<Activity> activity() const override;
  Result<Credited> credited(const RunId& run_id) const override;
  Result<std::vector<VolunteerTotals>> volunteers_of(const RunId& run_id, const Page& page) const override;
  Status roll(WallTime now) override;

 private:
  struct Rolling;
  Access access_;
  std::shared_ptr<Rolling> rolling_;  // shared with a write under way, which may outlive this object
};

// Corrections and audits, over the table contribution itself.
class SqlCorrectionStore final : public CorrectionStore {
 public:
  explicit SqlCorrectionStore(Access access) : access_(access) {}
  Result<CorrectionOutcome> preview(const CorrectionRequest& request) const override;
  Result<std::vector<VolunteerTotals>> concerned(const RunId& run_id, RoundIndex round_min,
                                                 RoundIndex round_max) const override;
  Result<CorrectionOutcome> correct(const CorrectionRequest& request) override;
  Result<std::int64_t> newest_reversal() const override;
  Result<RunAudit> audit(const RunId& run_id, double micro_credit_per_sample) const override;
  Status verify_recent() const override;

 private:
  Access access_;
};

}  // namespace starling::db
