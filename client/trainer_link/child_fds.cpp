#include "client/trainer_link/child_fds.h"

#include <fmt/core.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>

#include "client/trainer_link/sandbox.h"

namespace starling::trainer_link {
namespace {

std::optional<int> parent_from(int argc, char** argv) {
  if (argc != 3 || std::strcmp(argv[1], kParentOption) != 0) return std::nullopt;
  int parent = 0;
  const char* end = argv[2] + std::strlen(argv[2]);
  const auto parsed = std::from_chars(argv[2], end, parent);
  if (parsed.ec != std::errc() || parsed.ptr != end || parent <= 0) return std::nullopt;
  return parent;
}

}  // namespace

int run_child(int argc, char** argv, const char* does, const std::function<Status()>& serve) {
  const auto parent = parent_from(argc, argv);
  if (!parent) {
    fmt::print(stderr, "{} {} for starlingd, which starts it by itself.\n", argv[0], does);
    return 2;
  }
  Status status = die_with_parent(*parent);
  if (status.ok()) status = serve();
  if (status.ok()) return 0;
  fmt::print(stderr, "{}\n", status.error().message);
  return 1;
}

}  // namespace starling::trainer_link
