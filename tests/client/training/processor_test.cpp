#include "client/training/processor.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/temp_dir.h"

using starling::training::Processor;
using starling::training::read_processor;

namespace {

Processor of(const std::string& cpuinfo) {
  const starling::testing::TempDir root;
  std::filesystem::create_directories(root / "proc");
  std::ofstream(root / "proc/cpuinfo") << cpuinfo;
  std::ofstream(root / "proc/meminfo") << "MemTotal:       16000000 kB\n";
  return read_processor(root.path());
}

}  // namespace

TEST_CASE("a processor has the kernel's name, or none") {
  const Processor amd =
      of("processor\t: 0\nmodel\t\t: 1\nmodel name\t: AMD EPYC 7763 64-Core Processor\nflags\t\t: fpu sse avx512_bf16 "
         "vme\n\n"
         "processor\t: 1\nmodel name\t: another\nflags\t\t: fpu\n");
  CHECK(amd.name == "AMD EPYC 7763 64-Core Processor");
  CHECK(amd.bf16);
  CHECK(amd.memory_bytes == 16'000'000'000 / 1000 * 1024);
  CHECK(of("model name : Xeon\nflags : fpu amx_bf16\n").bf16);
  CHECK_FALSE(of("model name : Xeon\nflags : fpu avx512_bf16x not_amx_bf16\n").bf16);
  CHECK(of("processor\t: 0\nCPU part\t: 0xd08\n\nModel\t\t: Raspberry Pi 4 Model B Rev 1.4\n").name ==
        "Raspberry Pi 4 Model B Rev 1.4");
  CHECK(of("processor\t: 0\nCPU part\t: 0xd08\n").name.empty());
  CHECK(read_processor("/nonexistent").name.empty());
}
