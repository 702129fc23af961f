// Calls between simulated volunteers: the product's frames (client/transport/call_frames.h) over the links of the
// simulated network. A link leads from one life of a process to one of another; when the other end has begun another
// life, or its system has said that the process is gone, all that was under way on the link has failed.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "client/transport/call_frames.h"
#include "client/transport/call_types.h"
#include "tests/sim/network.h"

namespace starling::sim {

class CellPost {
 public:
  // The volunteers, by their places in the network.
  class Directory {
   public:
    virtual ~Directory() = default;
    virtual int index_of(const PeerId& peer) = 0;
    virtual const PeerId& id_of(int index) = 0;
    virtual std::uint64_t life_of(int index) = 0;  // 0: it is down
  };

  // All outlive this object. self: a volunteer that is up.
  CellPost(Network& network, Directory& directory, int self, transport::CallTaker& taker);

  void call(transport::OutgoingCall call);
  void call_off(const PeerId& holder, const Hash128& id);
  void answer(const transport::OutgoingAnswer& answer);
  void refuse(const PeerId& caller, const Hash128& id, const wire::Refusal& refusal);
  void weigh(const PeerId& holder, const wire::Weights& weights);

  // Puts the next frame on the uplink, if there is one and the uplink is free. Returns whether it did.
  bool send_next();
  // Returns what is wrong with a frame that came over a link of this life; empty if nothing is.
  [[nodiscard]] std::string on_frame(const Frame& frame);
  // The link with that life of the peer is gone.
  void on_link_lost(int peer, std::uint64_t life);

 private:
  using Key = std::pair<int, Hash128>;  // a peer, and a call's id
  struct Called {
    std::size_t floats = 0;  // the answer's
    std::optional<wire::Answer> answer{};
    std::function<void(transport::CallOutcome)> done{};
  };
  struct Taken {
    std::vector<float> values;
  };
  struct Waiting {
    int to = 0;
    transport::CallFrame frame;
  };

  // Whether a frame can go there; its life is the link's then.
  bool connect(int peer);
  void queue(std::size_t urgency, int to, std::vector<transport::CallFrame> frames);
  void queue(int to, wire::FrameType type, const Hash128& id, std::vector<std::uint8_t> payload);
  void lose(int peer);
  Status take(int from, const wire::FrameHeader& header, std::span<const std::uint8_t> payload);
  Status take_call(int from, const Hash128& id, std::span<const std::uint8_t> payload);
  Status take_answer(const Key& key, const wire::FrameHeader& header, std::span<const std::uint8_t> payload);
  void end(const Key& key, transport::CallOutcome outcome);

  Network& network_;
  Directory& directory_;
  const int self_;
  transport::CallTaker& taker_;
  std::map<int, std::uint64_t> lives_;          // links, by peer: the other end's life
  std::map<int, std::uint64_t> lost_;           // lives whose links were lost
  std::array<std::deque<Waiting>, 3> waiting_;  // the most urgent first: words, answers, calls
  std::map<Key, Called> called_;
  std::map<Key, Taken> taken_;  // their values come in
};

}  // namespace starling::sim
