// Confines the trainer child. Its inputs come from strangers: even if a malicious file took the process over, it could
// not open a connection, run a program, write a file, read the volunteer's files, or touch another process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shared/base/result.h"

namespace starling::trainer_link {

// Turns core dumps off, and limits descriptors (more for the driver of a graphics card) and private memory; 0: no
// memory limit. Children inherit the limits.
Status limit_resources(std::uint64_t memory_bytes, bool graphics_card);

// Sets the lowest priority for processor and disk, and makes this process the first to be ended when memory runs out.
// Refusals of the system are ignored: they cost comfort, not safety.
void yield_to_others();

// Ends this process when the parent ends. To the kernel the parent is the thread that started this process, which must
// live as long. failed_precondition when the parent is gone already.
Status die_with_parent(int parent_pid);

// Applies for ever to every thread of this process: no new privileges; only the system calls that computing needs;
// files only for reading, and of those only shared libraries and facts about the machine. Returns a description of the
// confinement. unsupported when the kernel has no seccomp filters; a kernel without Landlock is accepted, and the
// description says so.
// graphics_card: also allows writing and ioctl calls to the driver's device files. Only for a kernel that
// has_landlock(): without it nothing prevents writing to other files.
Result<std::string> enter_sandbox(bool graphics_card);

bool has_landlock();

// The two halves of enter_sandbox.
Status install_seccomp_filter(bool graphics_card);
// The ABI in force; 0 when the kernel has none.
Result<int> install_landlock_rules(bool graphics_card);

}  // namespace starling::trainer_link
