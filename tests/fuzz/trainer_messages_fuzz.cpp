#include <string_view>
#include <vector>

#include "client/trainer_link/audits.h"
#include "client/trainer_link/messages.h"
#include "client/trainer_link/tasks.h"
#include "tests/fuzz/fuzz_target.h"

using namespace starling;
using namespace starling::trainer_link;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto request = decode_request({data, size}); request.ok()) {
    VERIFY(request->samples.count >= 0 && request->count <= kTokensMax);
    VERIFY(request->text.size() <= kTextBytesMax && encode(*request) == bytes);
    if (const auto parts = unpack_parts(request->text); parts.ok()) {
      VERIFY(parts->size() <= wire::kAuditPartsMax && pack_parts(*parts) == request->text);
      if (check_parts(*parts, 1000).ok()) VERIFY(parts->back().first + parts->back().floats <= 1000);
    }
    // Packing checks that each place lies in the tray.
    std::vector<float> tray(64);
    if (const auto task = unpack_trunk_task(request->text, tray); task.ok()) VERIFY(!pack(*task, tray).empty());
    if (const auto task = unpack_cell_task(request->text, tray); task.ok()) VERIFY(!pack(*task, tray).empty());
  }
  if (const auto reply = decode_reply({data, size}); reply.ok()) {
    VERIFY(reply->batch.samples >= 0 && reply->batch.loss_sum - reply->batch.loss_sum == 0);
    // The texts of a failure and of a device are made plain and cut when they are read, and stay as they are then.
    const std::string once = encode(*reply);
    const auto again = decode_reply({reinterpret_cast<const std::uint8_t*>(once.data()), once.size()});
    VERIFY(again.ok() && encode(*again) == once);
    if (const auto sketches = unpack_sketches(reply->text, 1); sketches.ok()) {
      VERIFY(sketches->size() == wire::kSketchFloats && pack_sketches(*sketches) == reply->text);
    }
  }
  return 0;
}
