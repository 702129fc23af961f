#include "tests/sim/cell_post.h"

#include <algorithm>

#include "client/averaging/codec.h"
#include "shared/base/verify.h"

namespace starling::sim {

using transport::group_of;
using transport::id_of;

namespace {

enum Urgency : std::uint8_t { words, answers, calls };

transport::CallOutcome failed(std::string why) {
  transport::CallOutcome outcome;
  outcome.failure = std::move(why);
  return outcome;
}

// The simulated calls are small: all values come in one chunk.
Status decode_values(const wire::FrameHeader& header, std::span<const std::uint8_t> payload, std::span<float> values) {
  if (header.segment != 0 || payload.size() != wire::encoded_bytes(header.codec, values.size())) {
    return Error{ErrorCode::corrupt, "values of another size"};
  }
  return averaging::decode(header.codec, payload, values);
}

}  // namespace

CellPost::CellPost(Network& network, Directory& directory, int self, transport::CallTaker& taker)
    : network_(network), directory_(directory), self_(self), taker_(taker) {}

bool CellPost::connect(int peer) {
  const std::uint64_t life = directory_.life_of(peer);
  const auto known = lives_.find(peer);
  if (known != lives_.end() && life != 0 && known->second != life) lose(peer);
  if (life == 0) return lives_.contains(peer);  // nobody has said that it is gone
  if (const auto lost = lost_.find(peer); lost != lost_.end() && lost->second == life) return false;
  lives_[peer] = life;
  return true;
}

void CellPost::lose(int peer) {
  lost_[peer] = lives_.at(peer);
  lives_.erase(peer);
  for (std::deque<Waiting>& queue : waiting_) {
    std::erase_if(queue, [peer](const Waiting& waiting) { return waiting.to == peer; });
  }
  std::erase_if(taken_, [peer](const auto& taken) { return taken.first.first == peer; });
  std::vector<Key> open;
  for (const auto& [key, called] : called_) {
    if (key.first == peer) open.push_back(key);
  }
  for (const Key& key : open) end(key, failed("the link is gone"));
  taker_.gone(directory_.id_of(peer));
}

void CellPost::on_link_lost(int peer, std::uint64_t life) {
  const auto known = lives_.find(peer);
  if (known != lives_.end() && known->second == life) return lose(peer);
  lost_[peer] = std::max(lost_[peer], life);
}

void CellPost::queue(std::size_t urgency, int to, std::vector<transport::CallFrame> frames) {
  for (transport::CallFrame& frame : frames) waiting_[urgency].push_back({to, std::move(frame)});
}

void CellPost::queue(int to, wire::FrameType type, const Hash128& id, std::vector<std::uint8_t> payload) {
  transport::CallFrame frame;
  frame.header = {.type = type, .payload_bytes = static_cast<std::uint32_t>(payload.size()), .group = group_of(id)};
  frame.payload = std::make_shared<const std::vector<std::uint8_t>>(std::move(payload));
  waiting_[words].push_back({to, std::move(frame)});
}

void CellPost::call(transport::OutgoingCall call) {
  const int holder = directory_.index_of(call.holder);
  if (!connect(holder)) return call.done(failed("there is no link with the holder"));
  std::vector<transport::CallFrame> frames = transport::frames_of(call);
  Called& called = called_[{holder, call.id}];
  called.floats = wire::answer_floats(call.call, call.width);
  called.done = std::move(call.done);
  queue(calls, holder, std::move(frames));
}

void CellPost::call_off(const PeerId& holder, const Hash128& id) {
  const int peer = directory_.index_of(holder);
  if (called_.erase({peer, id}) == 0) return;
  std::erase_if(waiting_[calls],
                [&](const Waiting& waiting) { return waiting.to == peer && id_of(waiting.frame.header.group) == id; });
  if (connect(peer)) queue(peer, wire::FrameType::call_off, id, {});
}

void CellPost::answer(const transport::OutgoingAnswer& answer) {
  const int caller = directory_.index_of(answer.caller);
  if (connect(caller)) queue(answers, caller, transport::frames_of(answer));
}

void CellPost::refuse(const PeerId& caller, const Hash128& id, const wire::Refusal& refusal) {
  const int peer = directory_.index_of(caller);
  taken_.erase({peer, id});
  if (connect(peer)) queue(peer, wire::FrameType::refusal, id, wire::encode(refusal));
}

void CellPost::weigh(const PeerId& holder, const wire::Weights& weights) {
  const int peer = directory_.index_of(holder);
  if (connect(peer)) queue(peer, wire::FrameType::weights, {}, wire::encode(weights));
}

bool CellPost::send_next() {
  if (!network_.uplink_free(self_)) return false;
  for (std::deque<Waiting>& queue : waiting_) {
    while (!queue.empty()) {
      const Waiting next = std::move(queue.front());
      queue.pop_front();
      if (!connect(next.to)) continue;
      std::unique_ptr<Frame> frame = network_.blank_frame();
      frame->from = self_;
      frame->to = next.to;
      frame->from_life = directory_.life_of(self_);
      frame->to_life = lives_.at(next.to);
      frame->channel = kCallChannel;
      frame->header = next.frame.header;
      frame->payload = *next.frame.payload;
      network_.send(std::move(frame));
      return true;
    }
  }
  return false;
}

std::string CellPost::on_frame(const Frame& frame) {
  const auto known = lives_.find(frame.from);
  if (known != lives_.end() && known->second < frame.from_life) lose(frame.from);
  const auto lost = lost_.find(frame.from);
  if (lost != lost_.end() && lost->second >= frame.from_life) return {};
  lives_[frame.from] = frame.from_life;
  const Status taken = take(frame.from, frame.header, frame.payload);
  return taken.ok() ? std::string() : taken.error().message;
}

Status CellPost::take(int from, const wire::FrameHeader& header, std::span<const std::uint8_t> payload) {
  const Hash128 id = id_of(header.group);
  switch (header.type) {
    case wire::FrameType::call:
      return take_call(from, id, payload);
    case wire::FrameType::call_data: {
      const auto found = taken_.find({from, id});
      if (found == taken_.end()) return {};  // the call was refused, or has ended
      std::vector<float> values = std::move(found->second.values);
      taken_.erase(found);
      STARLING_TRY(decode_values(header, payload, values));
      return taker_.received(directory_.id_of(from), id, std::move(values), header.codec);
    }
    case wire::FrameType::call_off:
      taken_.erase({from, id});
      taker_.called_off(directory_.id_of(from), id);
      return {};
    case wire::FrameType::weights: {
      STARLING_ASSIGN(const wire::Weights weights, wire::decode_weights(payload));
      return taker_.weighed(directory_.id_of(from), weights);
    }
    case wire::FrameType::refusal: {
      transport::CallOutcome outcome;
      STARLING_ASSIGN(outcome.refusal, wire::decode_refusal(payload));
      std::erase_if(waiting_[calls], [&](const Waiting& waiting) {
        return waiting.to == from && id_of(waiting.frame.header.group) == id;
      });
      end({from, id}, std::move(outcome));
      return {};
    }
    default:
      return take_answer({from, id}, header, payload);
  }
}

Status CellPost::take_call(int from, const Hash128& id, std::span<const std::uint8_t> payload) {
  STARLING_ASSIGN(const wire::Call call, wire::decode_call(payload));
  STARLING_ASSIGN(const std::optional<wire::Refusal> refusal, taker_.admit(directory_.id_of(from), id, call));
  if (refusal) {
    refuse(directory_.id_of(from), id, *refusal);
    return {};
  }
  taken_[{from, id}].values.resize(wire::call_floats(call, taker_.width()));
  return {};
}

Status CellPost::take_answer(const Key& key, const wire::FrameHeader& header, std::span<const std::uint8_t> payload) {
  const auto found = called_.find(key);
  if (found == called_.end()) return {};  // it was called off
  Called& called = found->second;
  if (header.type == wire::FrameType::answer) {
    STARLING_ASSIGN(called.answer, wire::decode_answer(payload));
    return {};
  }
  if (!called.answer) return Error{ErrorCode::corrupt, "values before their answer"};
  transport::CallOutcome outcome;
  outcome.answer = called.answer;
  outcome.values.resize(called.floats);
  STARLING_TRY(decode_values(header, payload, outcome.values));
  end(key, std::move(outcome));
  return {};
}

void CellPost::end(const Key& key, transport::CallOutcome outcome) {
  const auto found = called_.find(key);
  if (found == called_.end()) return;
  const auto done = std::move(found->second.done);
  called_.erase(found);
  done(std::move(outcome));
}

}  // namespace starling::sim
