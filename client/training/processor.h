// The processor of this computer, as the kernel describes it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace starling::training {

struct Processor {
  std::string name;               // empty: the kernel has none for it
  std::int64_t memory_bytes = 0;  // this computer's, as far as the process may use it; 0: nothing tells
  bool bf16 = false;              // multiplies bf16 faster than floats
};

// Call it before the process is confined: without Landlock no file is opened after that. `root` is "/" except in tests.
Processor read_processor(const std::filesystem::path& root = "/");

}  // namespace starling::training
