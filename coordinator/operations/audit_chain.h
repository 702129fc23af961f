// The chain of the audit log: each line has a digest that covers the line and the digest before it. A line that is
// changed, inserted or removed breaks the chain there. A forger who computes all later digests, too, arrives at another
// last digest than an operator may have noted elsewhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "db/stores/operator_stores.h"
#include "shared/base/result.h"

namespace starling::operations {

// The digest of a line. Its number and its own digest are not part of it. Pure.
Digest chain(const Digest& before, const db::AuditLine& line);

// The audit log as a check found it.
struct AuditCheck {
  std::int64_t lines = 0;
  std::int64_t unchained = 0;  // lines of an older version, none of which is chained yet: all of them, or none
  Digest last;                 // the last line's digest; all zeros without one
  std::string problem;         // names the first line that does not fit; empty: the chain is whole
};
// Recomputes the chain. With `noted`, a digest that an operator once noted as the last, the log must still have it.
Result<AuditCheck> check_audit(const db::AuditStore& audit, const std::optional<Digest>& noted = {});

}  // namespace starling::operations
