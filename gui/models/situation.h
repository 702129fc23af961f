// The window's main message: one state, one sentence, what ends the state, and the one action for it.
#pragma once

#include <QString>
#include <optional>

#include "gui/link/daemon_link.h"
#include "shared/base/clock.h"
#include "shared/control/control.h"

namespace starling::models {

// The five states of the tray icon.
enum class Face { training, paused, waiting, attention, disconnected };

// The effect of the main button: the window does it, except for `request`, which it sends to the daemon.
enum class Remedy { none, start_daemon, join, request, open_preferences, open_log };

struct Situation {
  Face face = Face::disconnected;
  QString headline;
  QString detail;  // the end of the state, or the activity meanwhile; may be empty
  Remedy remedy = Remedy::none;
  QString action;                // the button's text; empty if there is nothing to do
  wire::ControlRequest request;  // for Remedy::request
};

// Everything on which the sentence depends.
struct Snapshot {
  link::LinkState link = link::LinkState::connecting;
  ErrorCode link_problem = ErrorCode::unavailable;  // valid if the link is gone
  std::optional<wire::DaemonStatus> status;         // the newest; none before the first
  wire::Preferences preferences;
  WallTime now;
};

Situation situationOf(const Snapshot& snapshot);
// The state in one word, for tooltips and screen readers.
QString faceName(Face face);

}  // namespace starling::models
