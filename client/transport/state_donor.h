// The giving side of a state transfer: which chunks go out on which link. Slots go round among the links that
// ask, one request at a time, so that many newcomers share the uplink without any of them starving.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "client/transport/frame_writer.h"
#include "client/transport/peer_network.h"
#include "shared/base/result.h"
#include "shared/wire/frames.h"

namespace starling::transport {

class Link;

// State frames carry it in place of a group: frames of a transfer that was given up are known by it.
GroupId transfer_id(const Digest& state_digest);

class StateDonor {
 public:
  static constexpr std::size_t kRequestsQueuedMax = 32;  // of one link; StateFetcher stays below
  static constexpr std::size_t kChunksPerRequestMax = 64;
  static constexpr std::size_t kLinksWaitingMax = 64;  // beyond it peers are told to go elsewhere

  StateDonor(StateSource source, std::size_t slots) : source_(std::move(source)), slots_(slots) {}

  // An answer to send at once, or none: chunks follow by next_frame. An error cuts the link.
  Result<std::optional<wire::StateInfo>> on_request(const Link* link, const wire::StateRequest& request);
  bool next_frame(const Link* link, FrameToSend& frame);
  void forget(const Link* link);
  // Links that got a slot since the last call: they want to be pumped.
  std::vector<const Link*> take_ready() { return std::exchange(ready_, {}); }

 private:
  struct Request {
    std::shared_ptr<const StateSnapshot> state;
    std::size_t next = 0;
    std::size_t end = 0;
  };
  struct Client {
    std::deque<Request> requests;
    bool has_slot = false;
  };

  void give_slots();

  StateSource source_;
  std::size_t slots_;
  std::unordered_map<const Link*, Client> clients_;  // with requests only
  std::deque<const Link*> waiting_;
  std::vector<const Link*> ready_;
};

}  // namespace starling::transport
