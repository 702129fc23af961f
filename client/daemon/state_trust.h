// Which states of a run, or of a cell, are believed: those that the run's project and members have signed, and no
// others.
#pragma once

#include <filesystem>

#include "client/daemon/run_parts.h"
#include "client/session/state_chain.h"
#include "client/storage/known_state.h"
#include "shared/base/ids.h"

namespace starling::daemon {

// Begins with what is known, and keeps what is learnt in the context's folder.
session::StateTrust trust_of(const RunContext& context, const storage::KnownState& known);

// Reads what an earlier session has kept there. A damaged file stops nothing: the project's next statement is believed
// as by a newcomer.
storage::KnownState known_state(const std::filesystem::path& folder, const RunId& run_id);

}  // namespace starling::daemon
