// The number by which the coordinator binds itself before a round, and the seed and the draws that follow from it when
// it is opened (shared/protocol/audit.h). Pure.
#pragma once

#include "shared/base/hash.h"
#include "shared/base/ids.h"

namespace starling::state {

// The number of a group's audits, as only the holder of the secret can tell it.
Digest audit_number(const Digest& secret, const GroupId& group);
// GroupInfo::audit_commitment.
Digest audit_commitment(const Digest& number);
// The seed with which members sketch their contributions once the round has this result, so that nobody knew it before.
Hash128 audit_seed(const Digest& number, const Hash128& result_digest);

}  // namespace starling::state
