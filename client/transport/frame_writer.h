// The output of one stream of a link: first the frame that introduces this peer, then the frames that are pulled, one
// at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "client/averaging/round_types.h"
#include "client/transport/peer_tls_stream.h"
#include "shared/wire/frames.h"

namespace starling::transport {

// Totals of payload and headers.
struct FrameBytes {
  std::int64_t sent = 0;
  std::int64_t received = 0;
};
constexpr std::int64_t frame_bytes(std::size_t payload) {
  return static_cast<std::int64_t>(wire::kFrameHeaderBytes + payload);
}

// A frame on its way to the socket, with its claim on the payload's memory.
struct FrameToSend {
  averaging::OutgoingFrame frame;
  // Holds the memory that `payload` points into. Null: it is borrowed from an owner who calls detach_payload before it
  // goes.
  std::shared_ptr<const void> owner;
  // Urgent frames on other links go before the rest of this one: see LinkStream::Owner::output_allowed.
  bool yields = false;
};

class FrameWriter {
 public:
  // Fills in the next frame; false when there is none.
  using Pull = std::function<bool(FrameToSend&)>;

  explicit FrameWriter(Pull pull) : pull_(std::move(pull)) {}

  // Call it once, before anything is written.
  void say_first(std::vector<std::uint8_t> frame);
  // Writes until there is nothing left (done), the budget is used up (done) or the stream stops it.
  IoState write(PeerTlsStream& stream, std::size_t& budget);

  // Whether a frame that yields is under way.
  [[nodiscard]] bool yields() const { return loaded_ && current_.yields; }
  // Copies the unsent rest of a borrowed payload.
  void detach_payload();

 private:
  bool load();
  IoState write_rest(PeerTlsStream& stream, std::size_t& budget);

  Pull pull_;
  bool loaded_ = false;
  FrameToSend current_;
  std::size_t head_sent_ = 0;
  std::size_t payload_sent_ = 0;
};

}  // namespace starling::transport
