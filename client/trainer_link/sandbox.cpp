#include "client/trainer_link/sandbox.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#include "shared/base/log.h"
#include "shared/base/unique_fd.h"
#include "shared/base/verify.h"

namespace starling::trainer_link {
namespace {

constexpr rlim_t kDescriptorsMax = 64;
constexpr rlim_t kDescriptorsMaxOfCard = 4096;  // the driver keeps one for each mapped piece of the card's memory
constexpr int kNicest = 19;
constexpr int kIoPriorityIdle = 3 << 13;  // IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0)
constexpr int kIoPriorityOfProcess = 1;   // IOPRIO_WHO_PROCESS

Status set_limit(decltype(RLIMIT_CORE) which, rlim_t value, const char* name) {
  const rlimit limit{value, value};
  if (::setrlimit(which, &limit) == 0) return {};
  return Error{ErrorCode::io, fmt::format("limit the trainer's {}: {}", name, std::strerror(errno))};
}

}  // namespace

Status limit_resources(std::uint64_t memory_bytes, bool graphics_card) {
  STARLING_TRY(set_limit(RLIMIT_CORE, 0, "core dumps"));
  STARLING_TRY(set_limit(RLIMIT_NOFILE, graphics_card ? kDescriptorsMaxOfCard : kDescriptorsMax, "open files"));
  // Limits private writable memory: address space is no measure, as libraries map far more than they use.
  if (memory_bytes > 0) STARLING_TRY(set_limit(RLIMIT_DATA, memory_bytes, "memory"));
  return {};
}

void yield_to_others() {
  if (::setpriority(PRIO_PROCESS, 0, kNicest) != 0) log_debug("trainer keeps its priority: {}", std::strerror(errno));
  const sched_param none{};
  if (::sched_setscheduler(0, SCHED_IDLE, &none) != 0) log_debug("trainer is not idle: {}", std::strerror(errno));
  ::syscall(SYS_ioprio_set, kIoPriorityOfProcess, 0, kIoPriorityIdle);
  const UniqueFd oom(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (!oom || ::write(oom.get(), "1000", 4) != 4) log_debug("trainer keeps its rank for memory shortage");
}

Status die_with_parent(int parent_pid) {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) {
    return Error{ErrorCode::io, fmt::format("tie the trainer to its daemon: {}", std::strerror(errno))};
  }
  // The daemon may have died before the tie was made.
  if (::getppid() != parent_pid) return Error{ErrorCode::failed_precondition, "the daemon is gone"};
  return {};
}

Result<std::string> enter_sandbox(const SandboxOptions& options) {
  ::tzset();  // reads its file now, because later it may not
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return Error{ErrorCode::unsupported, fmt::format("give up new privileges: {}", std::strerror(errno))};
  }
  int landlock = 0;
  if (options.landlock) {
    STARLING_ASSIGN(landlock, install_landlock_rules(options.graphics_card));
  }
  VERIFY(landlock > 0 || !options.graphics_card);
  STARLING_TRY(install_seccomp_filter(options.graphics_card, landlock > 0));
  if (landlock == 0) return std::string("seccomp, and opens no file at all, since there is no Landlock");
  return fmt::format("seccomp and Landlock (ABI {})", landlock);
}

}  // namespace starling::trainer_link
