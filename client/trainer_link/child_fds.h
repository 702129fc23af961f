// What the daemon and a fresh trainer child agree on before their first message.
#pragma once

#include "client/trainer_link/child_process.h"

namespace starling::trainer_link {

constexpr int kChannelFd = kFirstChildFd;
constexpr int kMemoryFd = kFirstChildFd + 1;
constexpr int kTrainFd = kFirstChildFd + 2;
constexpr int kValidationFd = kFirstChildFd + 3;
constexpr int kProgramFd = kFirstChildFd + 4;  // only of a script

// Followed by the daemon's process id.
constexpr const char* kParentOption = "--parent";

}  // namespace starling::trainer_link
