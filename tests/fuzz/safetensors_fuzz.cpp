#include "shared/wire/safetensors.h"

#include "tests/fuzz/fuzz_target.h"

using namespace starling;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto tensors = wire::read_tensor_head({data, size}, size);
  if (!tensors.ok()) return 0;
  for (const wire::TensorInfo& tensor : *tensors) {
    VERIFY(tensor.begin <= tensor.end && tensor.end <= size);
    VERIFY(tensor.elements() >= 0);
  }
  return 0;
}
