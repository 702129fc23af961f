// The step from one version of the daemon to the next: the end of the old one and the start of the new one.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "client/updates/installation.h"
#include "shared/base/result.h"

namespace starling::updates {

constexpr const char* kSelfCheckFlag = "--self-check";
// Line that a program prints when its self-check found no fault: "starlingd 1.2.0 works here".
std::string self_check_words(std::string_view version);

// Hands over to `version`: lets it check itself here with this program's own arguments, then switches to it and becomes
// it, in the same process. To be called when the data directory is free and the program's threads have ended. Returns
// only on failure, with the reason; the version is then not tried again. `go_on` is called repeatedly meanwhile; false
// ends the check.
Status hand_over(const Installation& installation, const std::string& version,
                 const std::vector<std::string>& arguments, const std::function<bool()>& go_on);

// Called at a daemon's start: counts the starts of a version on trial. When it was started too often without success
// (Installation::end_trial), becomes the previous version instead; otherwise returns.
void count_start(const Installation& installation, const std::vector<std::string>& arguments);

// Becomes `program`, with the arguments that follow a program's name. Returns only when it cannot.
Status become(const std::filesystem::path& program, const std::vector<std::string>& arguments);

}  // namespace starling::updates
