#include <algorithm>

#include "client/averaging/all_reduce_impl.h"

namespace starling::averaging {
namespace {

using Kind = OutboxItem::Kind;

// From this speed (bytes/s) on, processors and memory slow a round down, not lines: results then go out at once, before
// they have left the cache. Slower lines stay busy for longer when contributions, which other members wait for, go
// first.
constexpr double kSwift = 64e6;

wire::FrameType frame_type(Kind kind) {
  switch (kind) {
    case Kind::begin:
      return wire::FrameType::begin;
    case Kind::inventory:
      return wire::FrameType::inventory;
    case Kind::want:
      return wire::FrameType::want;
    case Kind::result:
      return wire::FrameType::result;
    case Kind::contribution:
      return wire::FrameType::contribution;
    case Kind::done:
      return wire::FrameType::done;
    case Kind::listen:
      return wire::FrameType::listen;
    case Kind::ping:
    case Kind::none:
      break;
  }
  return wire::FrameType::ping;
}

}  // namespace

bool AllReduce::Impl::next_frame(TimePoint now, Rank to, OutgoingFrame& frame) {
  if (!started_ || to >= roster_.size() || (outcome_ && outcome_->verdict == Verdict::expelled)) return false;
  if (peers_[to].severed) return false;
  outbox_.put_results_first(static_cast<double>(bytes_received_) > kSwift * to_seconds(now - started_at_));
  const OutboxItem item = outbox_.next(now, to);
  next_tick_ = std::min(next_tick_, outcome_ ? next_tick_ : outbox_.wake_at());
  if (item.kind == Kind::none) return false;
  compose(item, to, frame);
  watch_.on_sent(now, to, item.kind == Kind::result || item.kind == Kind::contribution);
  bytes_sent_ += static_cast<std::int64_t>(frame.head.size() + frame.payload.size());
  return true;
}

void AllReduce::Impl::compose(const OutboxItem& item, Rank to, OutgoingFrame& frame) {
  frame.head.resize(wire::kFrameHeaderBytes);
  frame.payload = {};
  frame.owner = nullptr;
  const auto append = [&frame](Payload bytes) { frame.head.insert(frame.head.end(), bytes.begin(), bytes.end()); };
  if (item.kind == Kind::begin) {
    const auto rank = static_cast<std::uint32_t>(item.rank);
    const Stake& stake = item.rank == self_ ? own_ : roster_.stake(item.rank);
    append(wire::encode(wire::Begin{rank,
                                    group_.vector_floats,
                                    stake.weight,
                                    plan_digest_,
                                    {note(item.rank).begin(), note(item.rank).end()},
                                    stake.draw}));
  }
  if (item.kind == Kind::inventory) append(recovery_.inventory());
  if (item.kind == Kind::done) append(wire::encode(done_for(to)));
  if (item.kind == Kind::result) append(table_.contributors(item.segment).bytes());
  if (item.kind == Kind::result || item.kind == Kind::contribution) compose_floats(item, to, frame);
  wire::FrameHeader header;
  header.type = frame_type(item.kind);
  header.payload_bytes = static_cast<std::uint32_t>(frame.head.size() - wire::kFrameHeaderBytes + frame.payload.size());
  if (item.kind != Kind::ping) header.group = group_.id;
  header.segment = item.segment;
  header.codec = codec_of(item);
  wire::encode_header(header, std::span(frame.head).first<wire::kFrameHeaderBytes>());
}

wire::Done AllReduce::Impl::done_for(Rank to) const {
  wire::Done done{*digest_};
  for (Rank rank = 0; outbox_.listens(to) && rank < roster_.size(); ++rank) {
    done.weights.push_back(roster_.weight(rank));
    done.draws.push_back(roster_.stake(rank).draw);
  }
  return done;
}

Codec AllReduce::Impl::codec_of(const OutboxItem& item) const {
  if (item.kind == Kind::result) return codec_;
  return item.kind == Kind::contribution ? contribution_codecs_[self_] : Codec::fp32;
}

void AllReduce::Impl::compose_floats(const OutboxItem& item, Rank to, OutgoingFrame& frame) {
  const bool result = item.kind == Kind::result;
  const std::span<const float> values = result ? output_of(item.segment) : input_of(item.segment);
  const Codec codec = codec_of(item);
  if (codec == Codec::fp32) {
    frame.payload = {reinterpret_cast<const std::uint8_t*>(values.data()), values.size_bytes()};
    return;
  }
  const EncodedResults::Bytes encoded = result ? encoded_result(item.segment) : encoded_contribution(to, values);
  frame.payload = *encoded;
  frame.owner = encoded;
}

EncodedResults::Bytes AllReduce::Impl::encoded_contribution(Rank to, std::span<const float> values) {
  // A stream of the link may still be sending the last contribution while another stream takes the next one.
  EncodedResults::Bytes& room = peers_[to].contribution;
  if (room.use_count() != 1) room = std::make_shared<std::vector<std::uint8_t>>();
  room->resize(encoded_bytes(contribution_codecs_[self_], values.size()));
  encode(contribution_codecs_[self_], values, *room);
  return room;
}

EncodedResults::Bytes AllReduce::Impl::encoded_result(SegmentIndex segment) {
  if (EncodedResults::Bytes found = encoded_.find(segment)) return found;
  const std::span<const float> values = output_of(segment);
  EncodedResults::Bytes room = encoded_.make_room(segment, encoded_bytes(codec_, values.size()));
  encode(codec_, values, *room);
  return room;
}

}  // namespace starling::averaging
