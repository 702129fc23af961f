// Messages to and from a daemon, over its socket or from another computer, and the files that it keeps of them.
#include "shared/control/control.h"

#include "shared/control/pause_request.h"
#include "shared/control/week_hours.h"
#include "tests/fuzz/fuzz_target.h"

using namespace starling;

namespace {

template <typename Message>
void check(Result<Message> (*decode)(std::string_view), std::string (*encode)(const Message&), std::string_view json) {
  const auto message = decode(json);
  if (!message.ok()) return;
  const std::string text = encode(*message);
  const auto again = decode(text);
  VERIFY(again.ok() && encode(*again) == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line = testing::text_of(data, size);
  check<wire::ControlRequest>(wire::decode_control_request, wire::encode_line, line);
  check<wire::ControlReply>(wire::decode_control_reply, wire::encode_line, line);
  check<wire::PauseRequest>(wire::decode_pause_request, wire::encode, line);
  check<wire::Preferences>(wire::decode_preferences, wire::encode, line);
  check<wire::WeekHours>(wire::parse_week_hours, wire::to_text, line);
  (void)wire::decode_leaderboard(line);
  return 0;
}
