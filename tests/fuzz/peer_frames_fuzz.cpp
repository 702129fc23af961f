#include <algorithm>
#include <vector>

#include "shared/reach/relay_protocol.h"
#include "shared/run/moments.h"
#include "shared/wire/frames.h"
#include "tests/fuzz/fuzz_target.h"

using namespace starling;
using namespace starling::wire;

namespace {

using Bytes = std::span<const std::uint8_t>;

// Every message has exactly one form: accepted bytes equal those that encode writes.
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

// Bytes that are nobody's state may pass here: the digest finds them.
void check_state(Bytes bytes) {
  if (bytes.size() < 3) return;
  const StateForm form{std::size_t{1} + bytes[0], bytes[1] % 2 == 0 ? MomentForm::fp16 : MomentForm::fp8};
  std::vector<float> floats(3 * form.parameters);
  floats.resize(floats.size() - bytes[2] % floats.size());
  const Bytes piece = bytes.subspan(3);
  const bool fits = piece.size() == state_bytes(form, 0, floats.size());
  VERIFY(decode_state(form, 0, piece, floats).ok() == fits);
}

void check_relay_request(Bytes bytes) {
  const auto* const text = reinterpret_cast<const char*>(bytes.data());
  const auto request = reach::decode_relay_request({text, bytes.size()});
  if (request.ok()) VERIFY(std::ranges::equal(reach::encode(*request), std::span(text, bytes.size())));
}

}  // namespace

// The first byte selects how the rest is read.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Bytes bytes(data + 1, size - 1);
  switch (data[0] % 12) {
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
    case 9:
      check_state(bytes);
      break;
    case 10:
      check_form(decode_seal(bytes), bytes);
      break;
    case 11:
      check_form(decode_lost_set(bytes, 11), bytes);
      break;
    default:
      check_relay_request(bytes);
  }
  return 0;
}
