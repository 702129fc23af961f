// What the daemon and a fresh child agree on before their first message.
#pragma once

#include <functional>

#include "client/trainer_link/child_process.h"
#include "shared/base/result.h"

namespace starling::trainer_link {

constexpr int kChannelFd = kFirstChildFd;
constexpr int kMemoryFd = kFirstChildFd + 1;
constexpr int kTrainFd = kFirstChildFd + 2;
constexpr int kValidationFd = kFirstChildFd + 3;
constexpr int kProgramFd = kFirstChildFd + 4;    // only of a script
constexpr int kTokenizerFd = kFirstChildFd + 1;  // a tokenizer's has nothing else

// Followed by the daemon's process id.
constexpr const char* kParentOption = "--parent";

// For main: ties this process to the daemon that its arguments name and serves that. Returns the exit code. A person
// who starts the program by hand is told what it `does` for starlingd.
int run_child(int argc, char** argv, const char* does, const std::function<Status()>& serve);

}  // namespace starling::trainer_link
