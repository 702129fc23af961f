// From one version of the daemon to the next: the end of the old one and the start of the new one.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "client/updates/installation.h"
#include "shared/base/result.h"

namespace starling::updates {

constexpr const char* kSelfCheckFlag = "--self-check";
// What a program prints, on a line of its own, when its self-check found nothing: "starlingd 1.2.0 works here".
std::string self_check_words(std::string_view version);

// The data directory is free and the program's threads have ended. Lets `version` check itself here, with this
// program's own arguments; then switches to it and becomes it, in the same process. Returns only when that did not come
// about, and says why; the version is then not tried again. `go_on` is asked again and again meanwhile; false ends it.
Status hand_over(const Installation& installation, const std::string& version,
                 const std::vector<std::string>& arguments, const std::function<bool()>& go_on);

// At the start of a daemon: counts the start of a version on trial. When it was started too often without getting well
// (Installation::end_trial), becomes the version before it instead; otherwise returns.
void count_start(const Installation& installation, const std::vector<std::string>& arguments);

// Becomes `program`, with the arguments that follow a program's name. Returns only when it cannot.
Status become(const std::filesystem::path& program, const std::vector<std::string>& arguments);

}  // namespace starling::updates
