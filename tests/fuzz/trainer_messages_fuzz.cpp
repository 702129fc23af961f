#include <string_view>

#include "client/trainer_link/messages.h"
#include "tests/fuzz/fuzz_target.h"

using namespace starling;
using namespace starling::trainer_link;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto request = decode_request({data, size}); request.ok()) {
    VERIFY(request->samples.count >= 0 && request->count <= kTokensMax);
    VERIFY(request->text.size() <= kTextBytesMax && encode(*request) == bytes);
  }
  if (const auto reply = decode_reply({data, size}); reply.ok()) {
    VERIFY(reply->batch.samples >= 0 && reply->batch.loss_sum - reply->batch.loss_sum == 0);
    // The text of a failure is made plain when it is read, and stays as it is then.
    const std::string once = encode(*reply);
    const auto again = decode_reply({reinterpret_cast<const std::uint8_t*>(once.data()), once.size()});
    VERIFY(again.ok() && encode(*again) == once);
    VERIFY(!reply->status.ok() || once == bytes);
  }
  return 0;
}
