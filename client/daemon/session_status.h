// A session's figures in the volunteer's status.
#pragma once

#include "client/session/session.h"
#include "shared/control/control.h"

namespace starling::daemon {

// Fills in the fields that the session knows. Pure.
void describe_session(const session::Session::View& view, wire::DaemonStatus& status);

}  // namespace starling::daemon
