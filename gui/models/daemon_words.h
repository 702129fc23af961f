// The daemon's own sentences, which are few, in the window's language.
#pragma once

#include <QString>
#include <string>

#include "shared/base/result.h"
#include "shared/control/control.h"

namespace starling::models {

// A reason or an end of wire::DaemonStatus, with a capital letter; an unknown sentence stays as it is.
QString daemonWords(const std::string& sentence);

// True if that word on checked work puts this computer out of the rounds.
bool keepsOut(const std::string& verdict);

// The reason why the last averaging was planned as it was, a sentence of shared/swarm.
QString planWords(const std::string& sentence);

// The device that computes, in one sentence; also that it is not known yet.
QString deviceWords(const wire::ComputingStatus& computing);

// Why the graphics card does not compute, a sentence behind "The graphics card is not used:".
QString cardWords(const std::string& sentence);

// The daemon's answer to a command that succeeded.
QString replyWords(const std::string& sentence);

// An error of the daemon, or of the coordinator that it asked. If the window does not know the sentence: the error's
// code in the window's language, followed by the daemon's own text.
QString errorWords(const Error& error);

// Why a coordinator would refuse to show this name; empty: it would not.
QString nameProblem(const QString& name);

}  // namespace starling::models
