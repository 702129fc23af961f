// Conventions that the daemon and a new child share before their first message.
#pragma once

#include <functional>

#include "client/trainer_link/child_process.h"
#include "shared/base/result.h"

namespace starling::trainer_link {

constexpr int kChannelFd = kFirstChildFd;
constexpr int kMemoryFd = kFirstChildFd + 1;
constexpr int kTrainFd = kFirstChildFd + 2;
constexpr int kValidationFd = kFirstChildFd + 3;
constexpr int kProgramFd = kFirstChildFd + 4;    // only for a script
constexpr int kTokenizerFd = kFirstChildFd + 1;  // a tokenizer has no other descriptors

// The daemon's process id follows this option.
constexpr const char* kParentOption = "--parent";

// For main: ties this process to the daemon that its arguments name and serves it. Returns the exit code. A person who
// starts the program by hand reads what it `does` for starlingd.
int run_child(int argc, char** argv, const char* does, const std::function<Status()>& serve);

}  // namespace starling::trainer_link
