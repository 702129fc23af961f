#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "coordinator/dataset/image.h"
#include "shared/base/unique_fd.h"
#include "tests/fuzz/fuzz_target.h"

using namespace starling;

namespace {

constexpr int kSide = 4;

}  // namespace

// A file from a folder of pictures.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const UniqueFd file(::memfd_create("image", MFD_CLOEXEC));
  VERIFY(::ftruncate(file.get(), 0) == 0 && ::pwrite(file.get(), data, size, 0) == static_cast<ssize_t>(size));
  for (const int channels : {1, 3}) {
    const auto planes = dataset::read_image("/proc/self/fd/" + std::to_string(file.get()), channels, kSide);
    if (planes.ok()) VERIFY(planes->size() == static_cast<std::size_t>(channels * kSide * kSide));
  }
  return 0;
}
