// Another program at a peer port: sends anything that a test wants, over plain TCP or TLS, and sees the answers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/transport/frame_order.h"
#include "client/transport/peer_tls_stream.h"
#include "shared/wire/frames.h"

namespace starling::transport::testing {

class RawPeer {
 public:
  // Connects to 127.0.0.1; with `tls`, also completes the handshake. Calls block, for 20 s at most.
  // `from` is another address of the loopback network to call from.
  explicit RawPeer(int port, const char* from = "127.0.0.1");
  RawPeer(int port, const crypto::TlsContext& tls, const char* from = "127.0.0.1");
  ~RawPeer();
  RawPeer(const RawPeer&) = delete;
  RawPeer& operator=(const RawPeer&) = delete;

  void send_plain(std::span<const std::uint8_t> bytes) const;
  void send(std::span<const std::uint8_t> bytes);
  // The header of the next frame, with that frame's number.
  std::vector<std::uint8_t> header(wire::FrameType type, std::size_t payload_bytes, const GroupId& group = {});
  void send_header(wire::FrameType type, std::size_t payload_bytes, const GroupId& group = {});
  // Says hello and reads the other end's.
  void say_hello(const std::string& run_id = "test-run");
  // Asks to be a further stream of that link; false when refused.
  bool join(const wire::LinkToken& link);
  // Type of the next frame, its payload in `payload`; nothing when cut off.
  std::optional<wire::FrameType> next_frame();
  // Whether the other end closed the connection. Waits for it.
  bool is_cut_off();
  // Whether the other end has closed the connection by now.
  [[nodiscard]] bool has_ended() const;

  std::vector<std::uint8_t> payload;
  wire::LinkToken token;      // token of the other end's link, after say_hello
  std::uint32_t segment = 0;  // segment of the frame that next_frame() returned
  FrameCount sent;            // the streams of one link count together

 private:
  bool read_exactly(std::span<std::uint8_t> out);

  int socket_ = -1;
  std::shared_ptr<PeerTlsStream::Buffers> buffers_ = std::make_shared<PeerTlsStream::Buffers>();
  std::optional<PeerTlsStream> stream_;
};

}  // namespace starling::transport::testing
