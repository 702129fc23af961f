// Confines the trainer child. What it computes comes from strangers: were a file of theirs ever to take it
// over, it could still not open a connection, run a program, write a file, read the volunteer's files, or
// touch another process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shared/base/result.h"

namespace starling::trainer_link {

// Core dumps off, few descriptors (more for the driver of a graphics card), private memory limited; 0: not limited.
// Children inherit all of it.
Status limit_resources(std::uint64_t memory_bytes, bool graphics_card);

// The lowest priority there is for processor and disk, and the first to go when memory runs out. What the
// system refuses is left out: it costs comfort, not safety.
void yield_to_others();

// The end of the parent process ends this one. The parent is the thread that started it, to the kernel:
// it must live as long. failed_precondition when the parent is gone already.
Status die_with_parent(int parent_pid);

// From here on, for every thread of this process and for ever: no new privileges; only the system calls
// that computing needs; files only for reading, and of those only shared libraries and facts about the
// machine. Returns what is in force, in words. unsupported when the kernel has no seccomp filters; a kernel
// without Landlock is fine, and named in the words.
// graphics_card: the driver's device files may be written to as well, and told what its libraries tell them. Only for
// a kernel that has_landlock(): without it nothing keeps other files from being written to.
Result<std::string> enter_sandbox(bool graphics_card);

bool has_landlock();

// The two halves of enter_sandbox.
Status install_seccomp_filter(bool graphics_card);
// Which ABI is in force; 0 when the kernel has none.
Result<int> install_landlock_rules(bool graphics_card);

}  // namespace starling::trainer_link
