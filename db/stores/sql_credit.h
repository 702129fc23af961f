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
  Result<Totals> pending(Holder of, std::int64_t holder_id) const override;
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
  Result<CorrectionOutcome> void_pending(const VoidRequest& request) override;
  Result<std::int64_t> newest_reversal() const override;
  Result<RunAudit> audit(const RunId& run_id, double micro_credit_per_sample) const override;
  Status verify_recent() const override;

 private:
  Access access_;
};

// The tables work_check and checked_host.
class SqlWorkCheckStore final : public WorkCheckStore {
 public:
  explicit SqlWorkCheckStore(Access access) : access_(access) {}
  Status add(const WorkCheck& check) override;
  Result<std::vector<WorkCheck>> list(const CheckQuery& query) const override;
  Result<WorkCheck> find(std::int64_t id) const override;
  Result<std::vector<CheckedHost>> standings(const RunId& run_id) const override;
  Result<CheckSums> sums(const RunId& run_id) const override;
  Result<CheckSums> sums_of(AccountId account) const override;

 private:
  Access access_;
};

// The text's first 500 bytes, without a broken letter in the end: the schema's limit for reasons.
std::string bounded_text(std::string text);

}  // namespace starling::db
