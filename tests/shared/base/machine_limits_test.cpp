#include "shared/base/machine_limits.h"

#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "tests/support/temp_dir.h"

using namespace starling;
using starling::testing::TempDir;

namespace {

void put(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

constexpr std::int64_t kMegabyte = 1024 * 1024;

struct Machine {
  Machine() { put(root / "proc/meminfo", "MemTotal:       8192000 kB\nMemFree: 1 kB\n"); }
  void in_group(const std::string& lines) const { put(root / "proc/self/cgroup", lines); }
  void set(const std::string& file, const std::string& text) const { put(root / "sys/fs/cgroup" / file, text); }
  [[nodiscard]] std::int64_t memory() const { return memory_allowed_bytes(root.path()); }
  [[nodiscard]] int processors() const { return processors_allowed(root.path()); }
  TempDir root;
};

}  // namespace

TEST_CASE("without control groups the whole machine may be used") {
  const Machine machine;
  CHECK(machine.memory() == 8'192'000 * std::int64_t{1024});
  CHECK(machine.processors() >= 1);
  machine.in_group("0::/user.slice\n");
  machine.set("user.slice/memory.max", "max\n");
  machine.set("user.slice/cpu.max", "max 100000\n");
  CHECK(machine.memory() == 8'192'000 * std::int64_t{1024});
  const TempDir unknown;
  CHECK(memory_allowed_bytes(unknown.path()) == 0);
}

TEST_CASE("the least memory limit of a group and those above it counts, in version 2") {
  const Machine machine;
  machine.in_group("0::/system.slice/starling.service\n");
  machine.set("system.slice/starling.service/memory.max", "max\n");
  machine.set("system.slice/starling.service/memory.high", std::to_string(700 * kMegabyte) + "\n");
  CHECK(machine.memory() == 700 * kMegabyte);
  machine.set("system.slice/memory.max", std::to_string(300 * kMegabyte) + "\n");
  CHECK(machine.memory() == 300 * kMegabyte);
}

TEST_CASE("version 1 is read where it is mounted, also beside version 2, and from within a container") {
  const Machine machine;
  machine.in_group("9:name=systemd:/\n4:memory:/docker/0123\n1:cpu,cpuacct:/docker/0123\n0::/\n");
  machine.set("memory/memory.limit_in_bytes", "9223372036854771712\n");  // the kernel's word for none
  CHECK(machine.memory() == 8'192'000 * std::int64_t{1024});
  machine.set("memory/docker/0123/memory.limit_in_bytes", std::to_string(400 * kMegabyte) + "\n");
  CHECK(machine.memory() == 400 * kMegabyte);
  machine.set("memory/memory.limit_in_bytes",
              std::to_string(200 * kMegabyte) + "\n");  // a container's own, at its root
  CHECK(machine.memory() == 200 * kMegabyte);
  machine.set("unified/memory.max", std::to_string(100 * kMegabyte) + "\n");
  CHECK(machine.memory() == 100 * kMegabyte);
  machine.set("cpu,cpuacct/docker/0123/cpu.cfs_quota_us", "20000\n");
  machine.set("cpu,cpuacct/docker/0123/cpu.cfs_period_us", "100000\n");
  CHECK(machine.processors() == 1);
}

TEST_CASE("a quota of processor time counts in whole processors, at least one") {
  const Machine machine;
  const int all = machine.processors();
  machine.in_group("0::/a/b\n");
  machine.set("a/b/cpu.max", "20000 100000\n");
  CHECK(machine.processors() == 1);
  machine.set("a/b/cpu.max", "6400000 100000\n");
  CHECK(machine.processors() == all);
  machine.set("a/cpu.max", "190000 100000\n");
  CHECK(machine.processors() == 1);
  machine.set("a/cpu.max", "-5 nonsense\n");
  CHECK(machine.processors() == all);
}
