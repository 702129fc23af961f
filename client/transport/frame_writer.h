// What goes out on one link: small control frames first, then whatever is pulled. Holds at most one pulled frame.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "client/averaging/all_reduce.h"
#include "client/transport/tls_stream.h"
#include "shared/wire/frames.h"

namespace starling::transport {

struct FrameToSend {
  averaging::OutgoingFrame frame;
  // Holds what payload points into. Null: borrowed from somebody who calls detach_payload before it goes.
  std::shared_ptr<const void> owner;
};

class FrameWriter {
 public:
  // Fills in the next frame, or says that there is none.
  using Pull = std::function<bool(FrameToSend&)>;

  explicit FrameWriter(Pull pull) : pull_(std::move(pull)) {}

  void enqueue(const wire::FrameHeader& header, std::span<const std::uint8_t> payload);
  [[nodiscard]] std::size_t queued_bytes() const { return queued_bytes_; }

  // Writes until there is nothing left (done), the budget is used up (done) or the stream stops it. `pulling`:
  // whether frames beyond the queue may go out yet. The budget may be overdrawn by what had been offered before.
  IoState write(TlsStream& stream, bool pulling, std::ptrdiff_t& budget);

  // Copies the unsent rest of a borrowed payload.
  void detach_payload();

 private:
  bool load(bool pulling);
  IoState write_rest(TlsStream& stream, std::ptrdiff_t& budget);

  Pull pull_;
  std::deque<std::vector<std::uint8_t>> queue_;
  std::size_t queued_bytes_ = 0;
  bool loaded_ = false;
  FrameToSend current_;
  std::size_t head_sent_ = 0;
  std::size_t payload_sent_ = 0;
  std::size_t offered_ = 0;  // to a stream that did not take it yet: it has to be offered again
};

}  // namespace starling::transport
