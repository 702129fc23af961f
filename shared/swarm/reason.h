// A plan's choice in one line, for people.
#pragma once

#include <span>
#include <string>

#include "shared/swarm/roles.h"

namespace starling::swarm {

// Names the bound of the averaging, and the remedy that each demoted member applies: at most wire::kReasonBytesMax
// bytes. `names`: short ones, in the order of the volunteers.
std::string explain(std::span<const std::string> names, std::span<const Volunteer> volunteers,
                    const RoleOptions& options, const RoleChoice& choice);

}  // namespace starling::swarm
