// Attempts that a hijacked trainer would make.
#pragma once

#include <string>

namespace starling::trainer_link::testing {

// `attempt` is "write PATH", "read PATH", "list PATH", "socket", "exec", "fork", "thread", "kill PID", "ptrace PID",
// "unlimit" or "ioctl". Returns "done", or the kernel's reason for refusing.
std::string try_to(const std::string& attempt);

}  // namespace starling::trainer_link::testing
