// Which acts operators may take on their page, by role. Commands on the server are taken by whoever may log in there.
#pragma once

#include <string_view>

#include "db/stores/operator_stores.h"
#include "shared/base/result.h"

namespace starling::operations {

// True if a `holder` may take acts that are `needed`'s.
bool may_act(db::OperatorRole holder, db::OperatorRole needed);
// permission_denied, with the role that the act takes: "'bo' is a viewer; this takes a moderator or an operator".
Status expect_role(std::string_view name, db::OperatorRole holder, db::OperatorRole needed);

}  // namespace starling::operations
