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

struct SandboxOptions {
  // Also allows writing and ioctl calls to the driver's device files. Only with Landlock: without it nothing prevents
  // writing to other files.
  bool graphics_card = false;
  bool landlock = true;  // false: not even where the kernel has it
};

// Applies for ever to every thread of this process: no new privileges; only the system calls that computing needs;
// files only for reading, and of those only shared libraries and facts about the machine. Without Landlock no file is
// opened or looked at by its path any more, so everything that libraries load late must be there before. Returns a
// description of the confinement. unsupported when the kernel has no seccomp filters.
Result<std::string> enter_sandbox(const SandboxOptions& options);

bool has_landlock();

// The two halves of enter_sandbox. `opens_files`: Landlock decides which ones.
Status install_seccomp_filter(bool graphics_card, bool opens_files);
// The ABI in force; 0 when the kernel has none.
Result<int> install_landlock_rules(bool graphics_card);

}  // namespace starling::trainer_link
