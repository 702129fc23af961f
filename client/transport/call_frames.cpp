#include "client/transport/call_frames.h"

#include <algorithm>
#include <utility>

#include "client/averaging/codec.h"

namespace starling::transport {
namespace {

CallFrame frame_of(wire::FrameType type, const Hash128& id, std::vector<std::uint8_t> payload) {
  wire::FrameHeader header;
  header.type = type;
  header.group = group_of(id);
  header.payload_bytes = static_cast<std::uint32_t>(payload.size());
  return {header, std::make_shared<const std::vector<std::uint8_t>>(std::move(payload))};
}

void add_values(wire::FrameType type, const Hash128& id, wire::Codec codec, std::span<const float> values,
                std::vector<CallFrame>& frames) {
  for (std::size_t chunk = 0, first = 0; first < values.size(); ++chunk) {
    const std::size_t floats = wire::call_chunk_floats(values.size(), chunk);
    std::vector<std::uint8_t> payload(wire::encoded_bytes(codec, floats));
    averaging::encode(codec, values.subspan(first, floats), payload);
    CallFrame frame = frame_of(type, id, std::move(payload));
    frame.header.codec = codec;
    frame.header.segment = static_cast<std::uint32_t>(chunk);
    frames.push_back(std::move(frame));
    first += floats;
  }
}

}  // namespace

GroupId group_of(const Hash128& id) {
  GroupId group;
  static_assert(sizeof group.bytes == sizeof id.bytes);
  std::copy(id.bytes.begin(), id.bytes.end(), group.bytes.begin());
  return group;
}

Hash128 id_of(const GroupId& group) {
  Hash128 id;
  std::copy(group.bytes.begin(), group.bytes.end(), id.bytes.begin());
  return id;
}

std::vector<CallFrame> frames_of(const OutgoingCall& call) {
  std::vector<CallFrame> frames{frame_of(wire::FrameType::call, call.id, wire::encode(call.call))};
  add_values(wire::FrameType::call_data, call.id, call.codec, call.values, frames);
  return frames;
}

std::vector<CallFrame> frames_of(const OutgoingAnswer& answer) {
  std::vector<CallFrame> frames{frame_of(wire::FrameType::answer, answer.id, wire::encode(answer.answer))};
  add_values(wire::FrameType::answer_data, answer.id, answer.codec, answer.values, frames);
  return frames;
}

}  // namespace starling::transport
