#include "shared/base/machine_limits.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace starling {
namespace {

namespace fs = std::filesystem;

// The folders of this process's control group and of those above it that may limit `controller`. A container may show
// its own group as the topmost one while the kernel still names it by its place in the host's tree, so the mount itself
// is always among them.
std::vector<fs::path> groups_of(const fs::path& root, const std::string& controller) {
  std::vector<fs::path> folders;
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool is_version_2 = controllers == ",,";
    if (!is_version_2 && controllers.find("," + controller + ",") == std::string::npos) continue;
    const fs::path all = root / "sys/fs/cgroup";
    const std::array<fs::path, 2> mounts =
        is_version_2 ? std::array{all, all / "unified"}
                     : std::array{all / controller, all / line.substr(first + 1, second - first - 1)};
    const fs::path place = fs::path(line.substr(second + 1)).relative_path();
    for (const fs::path& mount : mounts) {
      for (fs::path above = place; !above.empty(); above = above.parent_path()) folders.push_back(mount / above);
      folders.push_back(mount);
    }
  }
  return folders;
}

// The numbers in a file; none for the word "max", which stands for no limit.
std::vector<std::int64_t> numbers_in(const fs::path& path) {
  std::ifstream file(path);
  std::vector<std::int64_t> numbers;
  for (std::int64_t number = 0; file >> number;) numbers.push_back(number);
  return numbers;
}

std::int64_t machine_memory_bytes(const fs::path& root) {
  std::ifstream file(root / "proc/meminfo");
  std::string key;
  std::int64_t kilobytes = 0;
  return (file >> key >> kilobytes) && key == "MemTotal:" ? kilobytes * 1024 : 0;
}

// The processors that a quota leaves; none when there is no quota.
std::optional<double> quota_in(const fs::path& group) {
  std::vector<std::int64_t> limit = numbers_in(group / "cpu.max");  // version 2: quota and period
  if (limit.size() != 2) {
    limit = numbers_in(group / "cpu.cfs_quota_us");
    const std::vector<std::int64_t> period = numbers_in(group / "cpu.cfs_period_us");
    limit.insert(limit.end(), period.begin(), period.end());
  }
  if (limit.size() != 2 || limit[0] <= 0 || limit[1] <= 0) return std::nullopt;
  return static_cast<double>(limit[0]) / static_cast<double>(limit[1]);
}

}  // namespace

std::int64_t memory_allowed_bytes(const fs::path& root) {
  std::int64_t allowed = machine_memory_bytes(root);
  for (const fs::path& group : groups_of(root, "memory")) {
    for (const char* limit : {"memory.max", "memory.high", "memory.limit_in_bytes"}) {
      for (const std::int64_t bytes : numbers_in(group / limit)) {
        if (bytes > 0) allowed = allowed == 0 ? bytes : std::min(allowed, bytes);
      }
    }
  }
  return allowed;
}

int processors_allowed(const fs::path& root) {
  cpu_set_t set;
  int processors = ::sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
  for (const fs::path& group : groups_of(root, "cpu")) {
    if (const auto quota = quota_in(group)) processors = std::min(processors, std::max(1, static_cast<int>(*quota)));
  }
  return processors;
}

}  // namespace starling
