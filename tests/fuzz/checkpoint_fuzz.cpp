#include "client/storage/checkpoint_format.h"
#include "tests/fuzz/fuzz_target.h"

using namespace starling;
using namespace starling::storage;

// The bytes are a whole file: a state of two parameters and two optimizer vectors.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const StateShape shape{"fuzz", 2, 2};
  if (size < kHeaderLengthBytes) return 0;
  const auto length =
      decode_header_length(std::span<const std::uint8_t, kHeaderLengthBytes>(data, kHeaderLengthBytes), size, shape);
  if (!length.ok()) return 0;
  VERIFY(kHeaderLengthBytes + *length + shape.data_bytes() == size);
  const auto info = decode_header(testing::text_of(data + kHeaderLengthBytes, *length), shape);
  if (!info.ok()) return 0;
  VERIFY(info->round >= 0 && info->run_id == shape.run_id);
  const std::string head = encode_head(*info, shape);
  const auto again = decode_header(std::string_view(head).substr(kHeaderLengthBytes), shape);
  VERIFY(again.ok() && again->round == info->round && again->state_digest == info->state_digest);
  return 0;
}
