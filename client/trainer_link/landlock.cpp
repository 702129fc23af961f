#include <fcntl.h>
#include <fmt/core.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "client/trainer_link/sandbox.h"
#include "shared/base/unique_fd.h"

namespace starling::trainer_link {
namespace {

// Readable paths: libraries that are loaded late, and facts about the machine that numerical libraries read.
constexpr std::array kReadable = {
    "/usr/lib",
    "/usr/local/lib",
    "/lib",
    "/lib64",
    "/etc/ld.so.cache",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/self",
    "/proc/stat",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
    "/sys/fs/cgroup",
    "/dev/null",
    "/dev/urandom",
    "/dev/zero",
};

// Devices that a graphics card's driver opens repeatedly during use, and files that it reads.
constexpr std::array kDevicesOfCard = {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia0"};
constexpr std::array kReadableOfCard = {"/proc/driver/nvidia", "/sys/bus/pci/devices", "/sys/devices/pci0000:00"};

// The build machine's linux/landlock.h may be older than the kernel, so the newer names are defined here.
struct RulesetAttributes {
  std::uint64_t file_access = 0;
  std::uint64_t network_access = 0;  // ABI 4
  std::uint64_t scoped = 0;          // ABI 6
};
constexpr std::uint64_t kFileAccessAbi1 = (std::uint64_t{1} << 13) - 1;
constexpr std::uint64_t kRefer = std::uint64_t{1} << 13;        // ABI 2
constexpr std::uint64_t kTruncate = std::uint64_t{1} << 14;     // ABI 3
constexpr std::uint64_t kIoctlDevice = std::uint64_t{1} << 15;  // ABI 5
constexpr std::uint64_t kTcpBindAndConnect = 3;                 // ABI 4
constexpr std::uint64_t kAbstractSocketsAndSignals = 3;         // ABI 6

RulesetAttributes everything(int abi) {
  RulesetAttributes attributes;
  attributes.file_access = kFileAccessAbi1;
  if (abi >= 2) attributes.file_access |= kRefer;
  if (abi >= 3) attributes.file_access |= kTruncate;
  if (abi >= 4) attributes.network_access = kTcpBindAndConnect;
  if (abi >= 5) attributes.file_access |= kIoctlDevice;
  if (abi >= 6) attributes.scoped = kAbstractSocketsAndSignals;
  return attributes;
}

// Version of the kernel's Landlock; 0 or less: there is none.
int landlock_abi() {
  return static_cast<int>(::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION));
}

Error landlock_error(const char* what) {
  return {ErrorCode::unsupported, fmt::format("{} with Landlock: {}", what, std::strerror(errno))};
}

Status allow(int ruleset, const char* path, std::uint64_t more_access = 0) {
  const UniqueFd fd(::open(path, O_PATH | O_CLOEXEC));
  if (!fd) return {};  // absent on this machine
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return landlock_error("look at a path");
  landlock_path_beneath_attr rule{};
  rule.parent_fd = fd.get();
  rule.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE | more_access;
  if (S_ISDIR(info.st_mode)) rule.allowed_access |= LANDLOCK_ACCESS_FS_READ_DIR;
  if (::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0) {
    return landlock_error(path);
  }
  return {};
}

}  // namespace

bool has_landlock() { return landlock_abi() >= 1; }

Result<int> install_landlock_rules(bool graphics_card) {
  const int abi = landlock_abi();
  if (abi < 1) return 0;
  const RulesetAttributes attributes = everything(abi);
  const UniqueFd ruleset(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0)));
  if (!ruleset) return landlock_error("make rules");
  for (const char* path : kReadable) STARLING_TRY(allow(ruleset.get(), path));
  if (graphics_card) {
    const std::uint64_t talking = LANDLOCK_ACCESS_FS_WRITE_FILE | (abi >= 5 ? kIoctlDevice : 0);
    for (const char* path : kDevicesOfCard) STARLING_TRY(allow(ruleset.get(), path, talking));
    for (const char* path : kReadableOfCard) STARLING_TRY(allow(ruleset.get(), path));
  }
  if (::syscall(SYS_landlock_restrict_self, ruleset.get(), 0) != 0) return landlock_error("restrict the trainer");
  return abi;
}

}  // namespace starling::trainer_link
