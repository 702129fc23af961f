// Calls on their way between this computer and others: those of this volunteer, and those that it takes. Values travel
// in chunks (call_frames.h); they wait here until the link can take them. Net thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "client/transport/call_frames.h"
#include "client/transport/call_types.h"
#include "client/transport/link.h"

namespace starling::transport {

class Calls {
 public:
  using LinkTo = std::function<Link*(const PeerId&)>;

  // `link_to` gives the link to send on, or null.
  explicit Calls(LinkTo link_to) : link_to_(std::move(link_to)) {}

  // Who takes others' calls from now on; it outlives this object. Null: all are refused.
  void take_by(CallTaker* taker) { taker_ = taker; }

  // frames: frames_of(call), whose values are needed no more. They wait while kCallsOpenMax others are open there.
  void call(OutgoingCall call, std::vector<CallFrame> frames);
  void call_off(const PeerId& holder, const Hash128& id);
  void answer(const PeerId& caller, std::vector<CallFrame> frames);
  void refuse(const PeerId& caller, const Hash128& id, const wire::Refusal& refusal);
  void weigh(const PeerId& holder, const wire::Weights& weights);

  // For frames from wire::FrameType::call to weights. An error cuts the link; false: the frame is skipped.
  [[nodiscard]] Result<bool> wants_frame(const Link& link, const wire::FrameHeader& header) const;
  Status frame_received(Link& link, const wire::FrameHeader& header, std::span<const std::uint8_t> payload);
  // The next frame for this link: answers go before calls, since somebody waits for them with a trainer.
  bool next_frame(const Link& link, FrameToSend& frame);
  // True if rounds are to have the next turn on this link: calls take two of three while a round has something to send.
  [[nodiscard]] bool gives_way(const Link& link) const;
  void round_sent(const Link& link);
  void link_closed(const Link& link, const Error& why);

  [[nodiscard]] const FrameBytes& bytes() const { return bytes_; }

 private:
  // Values that come in chunks.
  struct Assembly {
    std::size_t floats = 0;  // in all
    std::vector<float> values;
    std::vector<bool> chunks;  // those that are here
    std::size_t missing = 0;

    void expect(std::size_t all_floats);
    Status take(const wire::FrameHeader& header, std::span<const std::uint8_t> payload);
  };
  struct Called {
    std::size_t floats = 0;  // the answer's
    std::optional<wire::Answer> answer;
    Assembly assembly;
    std::function<void(CallOutcome)> done;
  };
  struct Waiting {
    std::deque<CallFrame> answers;
    std::deque<CallFrame> calls;
    int in_a_row = 0;                                              // frames about calls since the last one of a round
    std::size_t open = 0;                                          // calls of ours without a complete answer
    std::deque<std::pair<Hash128, std::vector<CallFrame>>> later;  // calls that are not open yet
  };
  using Key = std::pair<PeerId, Hash128>;

  Status take_call(const PeerId& caller, const wire::FrameHeader& header, std::span<const std::uint8_t> payload);
  Status take_call_data(const PeerId& caller, const wire::FrameHeader& header, std::span<const std::uint8_t> payload);
  Status take_answer(const Key& key, const wire::FrameHeader& header, std::span<const std::uint8_t> payload);
  void end(const Key& key, CallOutcome outcome);
  // The call is open no more, and another one may be.
  void close(const Key& key);
  // Frames of this call that were not sent are not sent any more.
  void forget_frames(const Key& key);
  void pump(const PeerId& peer);

  LinkTo link_to_;
  CallTaker* taker_ = nullptr;
  std::map<Key, Called> called_;   // by holder and id
  std::map<Key, Assembly> taken_;  // by caller and id: their values come in
  std::unordered_map<PeerId, Waiting> waiting_;
  FrameBytes bytes_;
};

}  // namespace starling::transport
