#include "client/averaging/round_values.h"

#include <fmt/core.h>

#include <algorithm>

namespace starling::averaging {
namespace {

std::span<const std::uint8_t> bytes_of(std::span<const float> values) {
  return {reinterpret_cast<const std::uint8_t*>(values.data()), values.size_bytes()};
}

}  // namespace

RoundValues::RoundValues(const wire::GroupInfo& group, const SegmentTable& table, const RoundVectors& vectors)
    : table_(table),
      vectors_(vectors),
      codec_(codec_from_name(group.codec).value()),
      set_bytes_((group.members.size() + 7) / 8),
      encoded_(table.size()),
      contributions_(group.members.size()) {
  for (Rank rank = 0; rank < group.members.size(); ++rank)
    contribution_codecs_.push_back(wire::contribution_codec(group, rank));
  VERIFY(vectors.weight >= 0 && vectors.weight <= wire::kWeightMax);
  VERIFY(std::ssize(vectors.input) == group.vector_floats || vectors.weight == 0);
  VERIFY(std::ssize(vectors.output) == group.vector_floats);
  VERIFY(vectors.rest.empty() || std::ssize(vectors.rest) == group.vector_floats);
}

std::span<float> RoundValues::output_of(SegmentIndex segment) const {
  return vectors_.output.subspan(static_cast<std::size_t>(table_[segment].begin), table_[segment].floats);
}

std::span<const float> RoundValues::input_of(SegmentIndex segment) const {
  return vectors_.input.subspan(static_cast<std::size_t>(table_[segment].begin), table_[segment].floats);
}

Hash128 RoundValues::digest_of(SegmentIndex segment) const { return hash128(bytes_of(output_of(segment))); }

Status RoundValues::check_codec(Rank from, const wire::FrameHeader& header) const {
  if (header.type == wire::FrameType::want) return {};
  const Codec planned = header.type == wire::FrameType::result ? codec_ : contribution_codecs_[from];
  if (header.codec == planned) return {};
  return nonsense(fmt::format("it sent {} where the plan says {}", to_string(header.codec), to_string(planned)));
}

Status RoundValues::check_contribution(Rank from, SegmentIndex segment, Payload payload) const {
  const bool fits = payload.size() == encoded_bytes(contribution_codecs_[from], table_[segment].floats);
  return fits ? Status() : nonsense("a contribution's size is wrong");
}

Status RoundValues::check_result(SegmentIndex segment, Payload payload) const {
  if (payload.size() != set_bytes_ + encoded_bytes(codec_, table_[segment].floats)) {
    return nonsense("a result's size is wrong");
  }
  const std::size_t extra = table_.members() % 8;
  const bool stray = extra != 0 && payload[set_bytes_ - 1] >> extra != 0;
  return stray ? nonsense("a result names a member that does not exist") : Status();
}

// In fp32 the received bytes are hashed, because the cache still has them; it does not have the output.
Result<Hash128> RoundValues::take_result(SegmentIndex segment, Payload payload) {
  const Payload encoded = payload.subspan(set_bytes_);
  STARLING_TRY(decode(codec_, encoded, output_of(segment)));
  return codec_ == Codec::fp32 ? hash128(encoded) : digest_of(segment);
}

Hash128 RoundValues::make_result(SegmentIndex segment, SampleCount weight) {
  const std::span<float> values = output_of(segment);
  const bool wants_rest = !vectors_.rest.empty();
  const std::span<float> rest =
      wants_rest ? vectors_.rest.subspan(static_cast<std::size_t>(table_[segment].begin), values.size())
                 : vectors_.rest;
  if (wants_rest) std::copy(values.begin(), values.end(), rest.begin());
  if (codec_ != Codec::fp32) {
    // Every other member decodes the encoded result, so this member keeps the decoded values too.
    const EncodedResults::Bytes encoded = encoded_.make_room(segment, encoded_bytes(codec_, values.size()));
    encode(codec_, values, *encoded);
    VERIFY(decode(codec_, *encoded, values).ok());
  }
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] = (rest[i] - values[i]) * static_cast<float>(weight);
  made_.emplace_back(segment, digest_of(segment));
  return made_.back().second;
}

std::vector<bool> RoundValues::made_here() const {
  std::vector<bool> made(table_.size());
  for (const auto& [segment, digest] : made_) {
    made[segment] = table_.held(segment) && table_.values_digest(segment) == digest;
  }
  return made;
}

void RoundValues::put_result(SegmentIndex segment, OutgoingFrame& frame) {
  if (codec_ == Codec::fp32) {
    frame.payload = bytes_of(output_of(segment));
    return;
  }
  const EncodedResults::Bytes encoded = encoded_result(segment);
  frame.payload = *encoded;
  frame.owner = encoded;
}

void RoundValues::put_contribution(SegmentIndex segment, Rank self, Rank to, OutgoingFrame& frame) {
  const Codec codec = contribution_codecs_[self];
  if (codec == Codec::fp32) {
    frame.payload = bytes_of(input_of(segment));
    return;
  }
  const EncodedResults::Bytes encoded = encoded_contribution(codec, to, input_of(segment));
  frame.payload = *encoded;
  frame.owner = encoded;
}

EncodedResults::Bytes RoundValues::encoded_contribution(Codec codec, Rank to, std::span<const float> values) {
  // A stream of the link may still be sending the last contribution while another stream takes the next one.
  EncodedResults::Bytes& room = contributions_[to];
  if (room.use_count() != 1) room = std::make_shared<std::vector<std::uint8_t>>();
  room->resize(encoded_bytes(codec, values.size()));
  encode(codec, values, *room);
  return room;
}

EncodedResults::Bytes RoundValues::encoded_result(SegmentIndex segment) {
  if (EncodedResults::Bytes found = encoded_.find(segment)) return found;
  const std::span<const float> values = output_of(segment);
  EncodedResults::Bytes room = encoded_.make_room(segment, encoded_bytes(codec_, values.size()));
  encode(codec_, values, *room);
  return room;
}

}  // namespace starling::averaging
