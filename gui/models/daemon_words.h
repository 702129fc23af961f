// The daemon's own sentences, of which there are few, in the window's language.
#pragma once

#include <QString>
#include <string>

#include "shared/base/result.h"

namespace starling::models {

// A reason or an end of wire::DaemonStatus, with a capital letter; what is not known stays as it is.
QString daemonWords(const std::string& sentence);

// Why the last averaging was planned as it was, of shared/swarm.
QString planWords(const std::string& sentence);

// What it says to a command that it carried out.
QString replyWords(const std::string& sentence);

// Why the daemon, or the coordinator that it asked, refused. Where the window does not know the sentence: by its code
// in the window's language, with the daemon's own words behind.
QString errorWords(const Error& error);

}  // namespace starling::models
