#include "client/transport/calls.h"

#include <algorithm>
#include <cstring>

#include "client/averaging/codec.h"
#include "client/transport/frame_writer.h"

namespace starling::transport {
namespace {

constexpr int kCallsInARow = 2;

Error breach(const std::string& why) { return {ErrorCode::corrupt, "a frame about calls: " + why}; }

CallOutcome failed(const std::string& why) {
  CallOutcome outcome;
  outcome.failure = why;
  return outcome;
}

}  // namespace

void Calls::Assembly::expect(std::size_t all_floats) {
  floats = all_floats;
  values.reserve(floats);
  missing = wire::call_chunk_count(floats);
  chunks.assign(missing, false);
}

Status Calls::Assembly::take(const wire::FrameHeader& header, std::span<const std::uint8_t> payload) {
  const std::size_t chunk = header.segment;
  if (chunk >= chunks.size() || chunks[chunk]) return breach("a chunk that nobody expects");
  if (!wire::carries_results(header.codec)) return breach("a codec that leaves values out");
  const std::size_t count = wire::call_chunk_floats(floats, chunk);
  if (payload.size() != wire::encoded_bytes(header.codec, count)) return breach("a chunk of another size");
  // Chunks come one behind the other: each is written while the processor's caches have what resize() writes.
  const std::size_t first = chunk * wire::kCallChunkFloats;
  if (values.size() < first + count) values.resize(first + count);
  STARLING_TRY(averaging::decode(header.codec, payload, std::span(values).subspan(first, count)));
  chunks[chunk] = true;
  --missing;
  return {};
}

void Calls::call(OutgoingCall call, std::vector<CallFrame> frames) {
  if (link_to_(call.holder) == nullptr) return call.done(failed("there is no link with the holder"));
  Called& called = called_[{call.holder, call.id}];
  called.floats = wire::answer_floats(call.call, call.width);
  called.done = std::move(call.done);
  Waiting& waiting = waiting_[call.holder];
  if (waiting.open >= wire::kCallsOpenMax) {
    waiting.later.emplace_back(call.id, std::move(frames));
    return;
  }
  ++waiting.open;
  std::move(frames.begin(), frames.end(), std::back_inserter(waiting.calls));
  pump(call.holder);
}

void Calls::close(const Key& key) {
  const auto found = waiting_.find(key.first);
  if (found == waiting_.end()) return;
  Waiting& waiting = found->second;
  if (std::erase_if(waiting.later, [&key](const auto& call) { return call.first == key.second; }) > 0) return;
  --waiting.open;
  if (waiting.later.empty()) return;
  ++waiting.open;
  std::vector<CallFrame>& frames = waiting.later.front().second;
  std::move(frames.begin(), frames.end(), std::back_inserter(waiting.calls));
  waiting.later.pop_front();
  pump(key.first);
}

void Calls::call_off(const PeerId& holder, const Hash128& id) {
  if (called_.erase({holder, id}) == 0) return;
  forget_frames({holder, id});
  if (Link* const link = link_to_(holder)) link->send_control(wire::FrameType::call_off, {}, group_of(id));
  close({holder, id});  // the word goes before another call, so that the holder never has too many
}

void Calls::answer(const PeerId& caller, std::vector<CallFrame> frames) {
  if (link_to_(caller) == nullptr) return;  // it has called elsewhere
  std::deque<CallFrame>& queue = waiting_[caller].answers;
  std::move(frames.begin(), frames.end(), std::back_inserter(queue));
  pump(caller);
}

void Calls::refuse(const PeerId& caller, const Hash128& id, const wire::Refusal& refusal) {
  taken_.erase({caller, id});
  if (Link* const link = link_to_(caller)) {
    link->send_control(wire::FrameType::refusal, wire::encode(refusal), group_of(id));
  }
}

void Calls::weigh(const PeerId& holder, const wire::Weights& weights) {
  if (Link* const link = link_to_(holder)) link->send_control(wire::FrameType::weights, wire::encode(weights));
}

Result<bool> Calls::wants_frame(const Link& link, const wire::FrameHeader& header) const {
  const Key key{link.info().peer, id_of(header.group)};
  switch (header.type) {
    case wire::FrameType::call_data:
      return taken_.contains(key);  // its call may have been refused meanwhile
    case wire::FrameType::answer:
    case wire::FrameType::answer_data:
      return called_.contains(key);  // the call may have been called off
    default:
      return true;
  }
}

Status Calls::frame_received(Link& link, const wire::FrameHeader& header, std::span<const std::uint8_t> payload) {
  bytes_.received += frame_bytes(payload.size());
  const PeerId peer = link.info().peer;
  const Hash128 id = id_of(header.group);
  switch (header.type) {
    case wire::FrameType::call:
      return take_call(peer, header, payload);
    case wire::FrameType::call_data:
      return take_call_data(peer, header, payload);
    case wire::FrameType::call_off:
      taken_.erase({peer, id});
      if (taker_ != nullptr) taker_->called_off(peer, id);
      return {};
    case wire::FrameType::weights: {
      STARLING_ASSIGN(const wire::Weights weights, wire::decode_weights(payload));
      return taker_ != nullptr ? taker_->weighed(peer, weights) : Status();
    }
    case wire::FrameType::refusal: {
      CallOutcome outcome;
      STARLING_ASSIGN(outcome.refusal, wire::decode_refusal(payload));
      forget_frames({peer, id});
      end({peer, id}, std::move(outcome));
      return {};
    }
    default:
      return take_answer({peer, id}, header, payload);
  }
}

Status Calls::take_call(const PeerId& caller, const wire::FrameHeader& header, std::span<const std::uint8_t> payload) {
  STARLING_ASSIGN(const wire::Call call, wire::decode_call(payload));
  const Hash128 id = id_of(header.group);
  if (taken_.contains({caller, id})) return breach("a call that has begun before");
  std::optional<wire::Refusal> refusal = wire::Refusal{wire::RefusalReason::not_held, 0};
  if (taker_ != nullptr) {
    STARLING_ASSIGN(refusal, taker_->admit(caller, id, call));
  }
  if (refusal) {
    refuse(caller, id, *refusal);
    return {};
  }
  taken_[{caller, id}].expect(wire::call_floats(call, taker_->width()));
  return {};
}

Status Calls::take_call_data(const PeerId& caller, const wire::FrameHeader& header,
                             std::span<const std::uint8_t> payload) {
  const auto found = taken_.find({caller, id_of(header.group)});
  if (found == taken_.end()) return {};
  Assembly& taken = found->second;
  STARLING_TRY(taken.take(header, payload));
  if (taken.missing > 0) return {};
  const Hash128 id = found->first.second;
  std::vector<float> values = std::move(taken.values);
  taken_.erase(found);
  return taker_ != nullptr ? taker_->received(caller, id, std::move(values), header.codec) : Status();
}

Status Calls::take_answer(const Key& key, const wire::FrameHeader& header, std::span<const std::uint8_t> payload) {
  const auto found = called_.find(key);
  if (found == called_.end()) return {};
  Called& called = found->second;
  if (header.type == wire::FrameType::answer) {
    if (called.answer) return breach("a second answer");
    STARLING_ASSIGN(called.answer, wire::decode_answer(payload));
    called.assembly.expect(called.floats);
    return {};
  }
  if (!called.answer) return breach("values before their answer");
  STARLING_TRY(called.assembly.take(header, payload));
  if (called.assembly.missing > 0) return {};
  CallOutcome outcome;
  outcome.answer = called.answer;
  outcome.values = std::move(called.assembly.values);
  end(key, std::move(outcome));
  return {};
}

void Calls::end(const Key& key, CallOutcome outcome) {
  const auto found = called_.find(key);
  if (found == called_.end()) return;
  const auto done = std::move(found->second.done);
  called_.erase(found);
  close(key);
  done(std::move(outcome));
}

void Calls::forget_frames(const Key& key) {
  const auto found = waiting_.find(key.first);
  if (found == waiting_.end()) return;
  const GroupId group = group_of(key.second);
  std::erase_if(found->second.calls, [&group](const CallFrame& frame) { return frame.header.group == group; });
}

void Calls::pump(const PeerId& peer) {
  if (Link* const link = link_to_(peer)) link->pump();
}

bool Calls::next_frame(const Link& link, FrameToSend& frame) {
  const auto found = waiting_.find(link.info().peer);
  if (found == waiting_.end() || link_to_(link.info().peer) != &link) return false;
  Waiting& waiting = found->second;
  std::deque<CallFrame>& queue = waiting.answers.empty() ? waiting.calls : waiting.answers;
  if (queue.empty()) return false;
  const CallFrame next = std::move(queue.front());
  queue.pop_front();
  frame.frame.head.resize(wire::kFrameHeaderBytes);
  wire::encode_header(next.header, std::span(frame.frame.head).first<wire::kFrameHeaderBytes>());
  frame.frame.payload = *next.payload;
  frame.owner = next.payload;
  ++waiting.in_a_row;
  bytes_.sent += frame_bytes(next.payload->size());
  return true;
}

bool Calls::gives_way(const Link& link) const {
  const auto found = waiting_.find(link.info().peer);
  return found == waiting_.end() || found->second.in_a_row >= kCallsInARow;
}

void Calls::round_sent(const Link& link) {
  const auto found = waiting_.find(link.info().peer);
  if (found != waiting_.end()) found->second.in_a_row = 0;
}

void Calls::link_closed(const Link& link, const Error& why) {
  const PeerId peer = link.info().peer;
  if (link_to_(peer) != nullptr && link_to_(peer) != &link) return;  // frames went over the other link
  waiting_.erase(peer);
  std::erase_if(taken_, [&peer](const auto& taken) { return taken.first.first == peer; });
  std::vector<Key> open;
  for (const auto& [key, called] : called_) {
    if (key.first == peer) open.push_back(key);
  }
  for (const Key& key : open) end(key, failed(why.message));
  if (taker_ != nullptr) taker_->gone(peer);
}

}  // namespace starling::transport
