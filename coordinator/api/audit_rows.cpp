#include "coordinator/api/audit_rows.h"

namespace starling::api {
namespace {

db::Verdict verdict_of(core::AuditVerdict verdict) {
  switch (verdict) {
    case core::AuditVerdict::clean:
      return db::Verdict::clean;
    case core::AuditVerdict::missed:
      return db::Verdict::missed;
    case core::AuditVerdict::unchecked:
      return db::Verdict::unchecked;
  }
  return db::Verdict::unchecked;
}

}  // namespace

db::WorkCheck row_of(const RunId& run_id, const core::AuditStored& audit) {
  db::WorkCheck row;
  row.run_id = run_id;
  row.round = audit.round;
  row.peer_id = audit.peer;
  row.account_id = audit.account;
  row.verdict = verdict_of(audit.verdict);
  row.auditors = audit.auditors;
  row.distance = audit.distance;
  row.why = audit.why;
  row.at = audit.wall;
  return row;
}

db::VoidRequest request_of(const RunId& run_id, const core::CreditVoided& voided) {
  return {run_id, voided.peer, voided.account, voided.from, voided.reason, voided.wall};
}

}  // namespace starling::api
