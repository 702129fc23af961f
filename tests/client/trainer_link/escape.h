// What a trainer that was taken over would try.
#pragma once

#include <string>

namespace starling::trainer_link::testing {

// `attempt` is "write PATH", "read PATH", "list PATH", "socket", "exec", "fork", "thread", "kill PID",
// "ptrace PID", "unlimit", "ioctl". Returns "done", or why the kernel said no.
std::string try_to(const std::string& attempt);

}  // namespace starling::trainer_link::testing
