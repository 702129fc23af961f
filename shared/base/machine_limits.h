// The share of this machine that the process may use: containers, services and cpusets may take some of it away. The
// readings are those of Linux's control groups, versions 1 and 2. `root` is "/" except in tests.
#pragma once

#include <cstdint>
#include <filesystem>

namespace starling {

// Returns the bytes of memory that the process may use: the machine's, or the least limit of its control group and
// those above it. 0 when nothing tells.
std::int64_t memory_allowed_bytes(const std::filesystem::path& root = "/");

// Returns the number of threads that can compute at a time, at least 1: the processors that the process may run on, or
// fewer where a control group has a quota of their time. A part of a processor does not count beside whole ones: a
// thread more would make all of them wait whenever the quota is used up.
int processors_allowed(const std::filesystem::path& root = "/");

}  // namespace starling
