// What the window says first: one state, one sentence, what ends it, and the one thing to do about it.
#pragma once

#include <QString>
#include <optional>

#include "gui/link/daemon_link.h"
#include "shared/base/clock.h"
#include "shared/wire/control.h"

namespace starling::models {

// The tray icon's five states.
enum class Face { training, paused, waiting, attention, disconnected };

enum class Remedy { none, start_daemon, join, request, open_preferences, open_log };

struct Situation {
  Face face = Face::disconnected;
  QString headline;
  QString detail;  // what ends it, or what goes on meanwhile; may be empty
  Remedy remedy = Remedy::none;
  QString action;                // the button's words; empty where there is nothing to do
  wire::ControlRequest request;  // of Remedy::request
};

// Everything the sentence depends on.
struct Snapshot {
  link::LinkState link = link::LinkState::connecting;
  ErrorCode link_problem = ErrorCode::unavailable;  // where the link is gone
  std::optional<wire::DaemonStatus> status;         // the newest; none before the first
  wire::Preferences preferences;
  WallTime now;
};

Situation situationOf(const Snapshot& snapshot);
// The state in one word, for tooltips and screen readers.
QString faceName(Face face);

}  // namespace starling::models
