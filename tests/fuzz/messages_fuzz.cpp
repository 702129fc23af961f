// Every message between daemon and coordinator; a decoded message must survive being encoded again.
#include "shared/protocol/checkpoint.h"
#include "shared/protocol/error_reply.h"
#include "shared/protocol/heartbeat.h"
#include "shared/protocol/heartbeat_reply.h"
#include "shared/protocol/join.h"
#include "shared/protocol/round_report.h"
#include "shared/protocol/team.h"
#include "shared/protocol/unusable_samples.h"

#include "tests/fuzz/fuzz_target.h"

using namespace starling;

namespace {

template <typename Message>
void check(Result<Message> (*decode)(std::string_view), std::string_view json) {
  const auto message = decode(json);
  if (!message.ok()) return;
  const std::string text = wire::encode(*message);
  const auto again = decode(text);
  VERIFY(again.ok() && wire::encode(*again) == text);
}

// Members must be able to carry out an accepted plan: every rank has a codec, every coordinate a segment.
void check_plan(std::string_view json) {
  const auto reply = wire::decode_heartbeat_reply(json);
  if (!reply.ok() || !reply->group || !wire::check_group(*reply->group).ok()) return;
  const wire::GroupInfo& group = *reply->group;
  for (std::size_t rank = 0; rank < group.members.size(); ++rank) (void)wire::contribution_codec(group, rank);
  VERIFY(wire::codec_from_name(group.codec).ok());
  const std::size_t segments = wire::segment_count(group);
  VERIFY(segments > 0 && segments <= wire::kSegmentsMax);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view json = testing::text_of(data, size);
  check(wire::decode_error_reply, json);
  check(wire::decode_join_request, json);
  check(wire::decode_join_reply, json);
  check(wire::decode_renew_request, json);
  check(wire::decode_team_request, json);
  check(wire::decode_team_reply, json);
  check(wire::decode_unusable_samples, json);
  check(wire::decode_renew_reply, json);
  check(wire::decode_heartbeat, json);
  check(wire::decode_heartbeat_reply, json);
  check(wire::decode_checkpoint_reply, json);
  check(wire::decode_round_report, json);
  check_plan(json);
  return 0;
}
