// Decisions of audits, as rows for the store.
#pragma once

#include "coordinator/core/types.h"
#include "db/stores/credit_stores.h"

namespace starling::api {

db::WorkCheck row_of(const RunId& run_id, const core::AuditStored& audit);
db::VoidRequest request_of(const RunId& run_id, const core::CreditVoided& voided);

}  // namespace starling::api
