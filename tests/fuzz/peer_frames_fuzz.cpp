#include <algorithm>

#include "shared/reach/relay_protocol.h"
#include "shared/wire/frames.h"
#include "tests/fuzz/fuzz_target.h"

using namespace starling;
using namespace starling::wire;

namespace {

using Bytes = std::span<const std::uint8_t>;

// Every message has exactly one form: what is accepted is what would have been written.
template <typename Message>
void check_form(const Result<Message>& message, Bytes bytes) {
  if (message.ok()) VERIFY(std::ranges::equal(encode(*message), bytes));
}

void check_header(Bytes bytes) {
  if (bytes.size() < kFrameHeaderBytes) return;
  const auto header = decode_header(bytes.first<kFrameHeaderBytes>());
  if (!header.ok()) return;
  std::array<std::uint8_t, kFrameHeaderBytes> again{};
  encode_header(*header, again);
  VERIFY(std::ranges::equal(again, bytes.first(kFrameHeaderBytes)));
}

void check_relay_request(Bytes bytes) {
  const auto* const text = reinterpret_cast<const char*>(bytes.data());
  const auto request = reach::decode_relay_request({text, bytes.size()});
  if (request.ok()) VERIFY(std::ranges::equal(reach::encode(*request), std::span(text, bytes.size())));
}

}  // namespace

// The first byte chooses what the rest is read as.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Bytes bytes(data + 1, size - 1);
  switch (data[0] % 9) {
    case 0:
      check_header(bytes);
      break;
    case 1:
      check_form(decode_hello(bytes), bytes);
      break;
    case 2:
      check_form(decode_begin(bytes), bytes);
      break;
    case 3:
      check_form(decode_inventory(bytes, 11, 9), bytes);
      break;
    case 4:
      check_form(decode_done(bytes, 3), bytes);
      break;
    case 5:
      check_form(decode_state_request(bytes), bytes);
      break;
    case 6:
      check_form(decode_state_info(bytes), bytes);
      break;
    case 7:
      check_form(decode_join(bytes), bytes);
      break;
    default:
      check_relay_request(bytes);
  }
  return 0;
}
