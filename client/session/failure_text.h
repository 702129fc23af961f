// The reason of a trainer's failure as others may read it: the volunteer in a list of problems, and the operator.
#pragma once

#include <string>
#include <string_view>

namespace starling::session {

// Where a message names the failure behind it, that failure follows these words.
inline constexpr std::string_view kLastTime = "; the last time: ";

// Ends the message of a gradient that is corrupt by its numbers: one sample may be to blame, and is passed over.
inline constexpr std::string_view kNotFinite = "is not finite";

// The failure itself, without what changes from one try to the next; one line of at most wire::kTrainerFailureBytesMax
// bytes. A file's path is cut to its last name: the rest tells of a person's folders. Where it is doubtful
// whether words belong to a path, they go, too.
std::string failure_for_others(std::string_view why);

}  // namespace starling::session
