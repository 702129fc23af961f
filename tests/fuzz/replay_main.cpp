// Runs a fuzz target over the inputs kept in a folder, and over copies of them that are damaged deterministically: cut
// at each length (of short inputs), then some changed, dropped and doubled bytes.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "shared/base/files.h"
#include "shared/base/permutation.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

constexpr std::size_t kInputBytesMax = 1 << 20;
constexpr std::size_t kCutsMax = 512;
constexpr std::uint64_t kDamagesPerInput = 500;

// The running input, for the handler of a crash.
char current[512];

void on_crash(int signal) {
  const char text[] = "\nfuzz target failed on ";
  (void)!write(STDERR_FILENO, text, sizeof text - 1);
  (void)!write(STDERR_FILENO, current, std::strlen(current));
  (void)!write(STDERR_FILENO, "\n", 1);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void run(const std::string& name, const std::string& input) {
  std::snprintf(current, sizeof current, "%s", name.c_str());
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

std::string damaged(std::string input, std::uint64_t seed) {
  std::uint64_t random = starling::mix64(seed);
  const auto below = [&random](std::size_t limit) {
    random = starling::mix64(random);
    return static_cast<std::size_t>(random % limit);
  };
  for (std::size_t i = below(4); i < 4 && !input.empty(); ++i) {
    const std::size_t at = below(input.size());
    switch (below(4)) {
      case 0:
        input[at] = static_cast<char>(below(256));
        break;
      case 1:
        input[at] = static_cast<char>(input[at] ^ (1 << below(8)));
        break;
      case 2:
        input.erase(at, 1 + below(8));
        break;
      default:
        input.insert(at, input.substr(below(input.size()), 1 + below(32)));
    }
  }
  return input;
}

void replay(const std::string& name, const std::string& input) {
  run(name, input);
  for (std::size_t size = 0; size < std::min(input.size(), kCutsMax); ++size) {
    run(name + " cut to " + std::to_string(size), input.substr(0, size));
  }
  for (std::uint64_t seed = 0; seed < kDamagesPerInput; ++seed) {
    run(name + " damaged with seed " + std::to_string(seed), damaged(input, seed));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  for (const int signal : {SIGABRT, SIGSEGV, SIGFPE, SIGILL, SIGBUS}) std::signal(signal, on_crash);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    const auto input = starling::read_file(file, kInputBytesMax);
    if (!input.ok()) {
      std::fprintf(stderr, "%s\n", input.error().message.c_str());
      return 1;
    }
    replay(file.filename().string(), *input);
  }
  std::printf("%zu inputs, each with its damaged copies\n", files.size());
  return files.empty() ? 1 : 0;
}
