#include "tests/support/small_disk.h"

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "tests/support/skip.h"

namespace starling::testing {
namespace {

// Gives this thread mounts of its own.
bool enter_mounts() {
  const uid_t uid = ::geteuid();
  const gid_t gid = ::getegid();
  if (::unshare(CLONE_NEWNS) != 0) {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << uid << ' ' << uid << " 1";
    std::ofstream("/proc/self/gid_map") << gid << ' ' << gid << " 1";
  }
  return ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

}  // namespace

SmallDisk::SmallDisk(std::int64_t bytes) {
  static thread_local const bool entered = enter_mounts();
  const std::string options = "mode=700,size=" + std::to_string(bytes);
  if (!entered || ::mount("none", folder_.path().c_str(), "tmpfs", 0, options.c_str()) != 0) {
    skip("this system does not let us mount a small disk: neither root nor user namespaces");
  }
}

SmallDisk::~SmallDisk() { ::umount2(folder_.path().c_str(), MNT_DETACH); }

}  // namespace starling::testing
