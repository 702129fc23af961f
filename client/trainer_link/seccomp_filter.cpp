#include <errno.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <initializer_list>
#include <memory>

#include "client/trainer_link/sandbox.h"

namespace starling::trainer_link {
namespace {

// Memory, threads, time, and input and output on open descriptors.
constexpr std::array kAllowed = {
    // memory
    SCMP_SYS(brk),
    SCMP_SYS(mmap),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(mprotect),
    SCMP_SYS(madvise),
    SCMP_SYS(mincore),
    SCMP_SYS(membarrier),
    // threads and signals of this process
    SCMP_SYS(futex),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(get_robust_list),
    SCMP_SYS(rseq),
    SCMP_SYS(set_tid_address),
    SCMP_SYS(gettid),
    SCMP_SYS(getpid),
    SCMP_SYS(getppid),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(rt_sigtimedwait),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(sched_getparam),
    SCMP_SYS(sched_getscheduler),
    SCMP_SYS(sched_get_priority_max),
    SCMP_SYS(sched_get_priority_min),
    SCMP_SYS(getcpu),
    SCMP_SYS(pause),
    // time and facts
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_getres),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(nanosleep),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(time),
    SCMP_SYS(times),
    SCMP_SYS(getrusage),
    SCMP_SYS(sysinfo),
    SCMP_SYS(uname),
    SCMP_SYS(getrandom),
    SCMP_SYS(getuid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getgid),
    SCMP_SYS(getegid),
    SCMP_SYS(getcwd),
    SCMP_SYS(getpriority),
    SCMP_SYS(getrlimit),
    // descriptors
    SCMP_SYS(read),
    SCMP_SYS(pread64),
    SCMP_SYS(readv),
    SCMP_SYS(write),
    SCMP_SYS(writev),
    SCMP_SYS(recvfrom),
    SCMP_SYS(recvmsg),
    SCMP_SYS(sendto),
    SCMP_SYS(sendmsg),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(close),
    SCMP_SYS(lseek),
    SCMP_SYS(fstat),
    SCMP_SYS(fcntl),
    SCMP_SYS(dup),
    SCMP_SYS(getdents64),
    SCMP_SYS(fstatfs),
};

// Calls that look at files by their paths: allowed where Landlock decides which files can be read.
constexpr std::array kAllowedByPath = {
    SCMP_SYS(stat),      SCMP_SYS(lstat),      SCMP_SYS(newfstatat), SCMP_SYS(statx),      SCMP_SYS(access),
    SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(readlink),   SCMP_SYS(readlinkat), SCMP_SYS(statfs),
};

constexpr scmp_datum_t kWritingFlags = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY);
// With a graphics card: its device files, which Landlock separates from all others, are opened for writing too.
constexpr scmp_datum_t kMakingFlags = O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY);
// Ioctl requests of NVIDIA's driver: those of type 'F', and bare numbers of its unified memory, including the one that
// initialises it.
constexpr scmp_datum_t kRequestType = 0xff00;
constexpr scmp_datum_t kDriverType = 'F' << 8;
constexpr scmp_datum_t kAboveBareNumbers = 0xffffff00;
constexpr scmp_datum_t kUnifiedMemoryBegins = 0x30000000;
constexpr scmp_datum_t kPrSetVma = 0x53564d41;  // names anonymous mappings; in newer sys/prctl.h

class Filter {
 public:
  // A forbidden call fails with EPERM, as if permission were lacking: libraries handle that.
  Filter() : context_(seccomp_init(SCMP_ACT_ERRNO(EPERM)), seccomp_release) {}

  void allow(int call, std::initializer_list<scmp_arg_cmp> conditions = {}) { add(SCMP_ACT_ALLOW, call, conditions); }
  void refuse(int call, int error_number) { add(SCMP_ACT_ERRNO(static_cast<std::uint32_t>(error_number)), call, {}); }

  Status load() {
    // Applies to all threads, including those that a library started while it was loaded.
    if (problem_ == 0) problem_ = seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_TSYNC, 1);
    if (problem_ == 0) problem_ = seccomp_load(context_.get());
    if (problem_ == 0) return {};
    return Error{ErrorCode::unsupported, fmt::format("confine the trainer with seccomp: {}", std::strerror(-problem_))};
  }

 private:
  void add(std::uint32_t action, int call, std::initializer_list<scmp_arg_cmp> conditions) {
    if (problem_ != 0) return;
    if (!context_) {
      problem_ = -ENOMEM;
      return;
    }
    problem_ = seccomp_rule_add_array(context_.get(), action, call, static_cast<unsigned>(conditions.size()),
                                      conditions.begin());
  }

  std::unique_ptr<void, void (*)(void*)> context_;
  int problem_ = 0;
};

}  // namespace

Status install_seccomp_filter(bool graphics_card, bool opens_files) {
  Filter filter;
  for (const int call : kAllowed) filter.allow(call);
  if (opens_files) {
    for (const int call : kAllowedByPath) filter.allow(call);
    const scmp_datum_t refused_flags = graphics_card ? kMakingFlags : kWritingFlags;
    filter.allow(SCMP_SYS(open), {SCMP_A1(SCMP_CMP_MASKED_EQ, refused_flags, 0)});
    filter.allow(SCMP_SYS(openat), {SCMP_A2(SCMP_CMP_MASKED_EQ, refused_flags, 0)});
  } else {
    // The C library's fstat: an open descriptor with an empty path. A filter does not see the path; with another one
    // these calls tell whether a file is there, and how large.
    filter.allow(SCMP_SYS(newfstatat), {SCMP_A3(SCMP_CMP_MASKED_EQ, AT_EMPTY_PATH, AT_EMPTY_PATH)});
    filter.allow(SCMP_SYS(statx), {SCMP_A2(SCMP_CMP_MASKED_EQ, AT_EMPTY_PATH, AT_EMPTY_PATH)});
  }
  if (graphics_card) {
    filter.allow(SCMP_SYS(ioctl), {SCMP_A1(SCMP_CMP_MASKED_EQ, kRequestType, kDriverType)});
    filter.allow(SCMP_SYS(ioctl), {SCMP_A1(SCMP_CMP_MASKED_EQ, kAboveBareNumbers, 0)});
    filter.allow(SCMP_SYS(ioctl), {SCMP_A1(SCMP_CMP_MASKED_EQ, kAboveBareNumbers, kUnifiedMemoryBegins)});
  }
  // Allows threads, never processes. clone3 hides its flags from a filter: ENOSYS makes the C library use clone.
  filter.allow(SCMP_SYS(clone), {SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD)});
  filter.refuse(SCMP_SYS(clone3), ENOSYS);
  filter.refuse(SCMP_SYS(openat2), ENOSYS);
  const auto self = static_cast<scmp_datum_t>(::getpid());
  filter.allow(SCMP_SYS(tgkill), {SCMP_A0(SCMP_CMP_EQ, self, 0)});
  filter.allow(SCMP_SYS(prlimit64), {SCMP_A0(SCMP_CMP_EQ, 0, 0), SCMP_A2(SCMP_CMP_EQ, 0, 0)});
  for (const scmp_datum_t option : {scmp_datum_t{PR_SET_NAME}, scmp_datum_t{PR_GET_NAME}, kPrSetVma}) {
    filter.allow(SCMP_SYS(prctl), {SCMP_A0(SCMP_CMP_EQ, option, 0)});
  }
  return filter.load();
}

}  // namespace starling::trainer_link
