// One TLS connection to another volunteer: handshake, hello, then frames both ways. Output is pulled: when the
// socket can take more, the mediator is asked for the next frame, so nothing queues up here but small control
// frames. Net thread only; held by shared_ptr because waits in flight keep it alive.
#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "client/transport/frame_reader.h"
#include "client/transport/frame_writer.h"
#include "client/transport/line_limit.h"
#include "client/transport/tcp_counters.h"
#include "client/transport/tls_stream.h"
#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/reach/relay_post.h"
#include "shared/wire/frames.h"

namespace starling::transport {

// What all links of a network share; outlives them.
struct LinkContext {
  asio::io_context& io;
  const Clock& clock;
  PeerId self;
  RunId run_id;
  std::string congestion_control = {};  // see PeerNetworkOptions
  // What TCP has moved over all links so far, as far as count_traffic has seen it.
  TcpCounters moved = {};
  // What the volunteer allows all of them together.
  LineLimit upload{io, clock};
  LineLimit download{io, clock};
};

class Link : public std::enable_shared_from_this<Link> {
 public:
  // Everything that needs to know more than one link.
  class Mediator {
   public:
    virtual ~Mediator() = default;
    virtual void link_up(Link& link) = 0;
    // Whether the announced payload is wanted at all; an error cuts the link. Asked before memory is set aside.
    virtual Result<bool> wants_frame(Link& link, const wire::FrameHeader& header) = 0;
    // A wanted frame. An error cuts the link.
    virtual Status frame_received(Link& link, const wire::FrameHeader& header,
                                  std::span<const std::uint8_t> payload) = 0;
    // Bytes were received, maybe whole frames, and this link now pauses for other links' sake.
    virtual void input_paused(Link& link) = 0;
    virtual bool next_frame(Link& link, FrameToSend& frame) = 0;
    // Once, from the event loop: never from within a call of one of the link's methods.
    virtual void link_closed(Link& link, const Error& why) = 0;
  };

  enum class Phase : std::uint8_t { connecting, handshaking, greeting, up, closed };

  struct Info {
    PeerId peer;  // expected when dialling; proven from `greeting` on
    bool dialled = false;
    bool relayed = false;  // the two ends called each other at a relay
    std::string remote;    // address and port, for messages
    Phase phase = Phase::connecting;
    bool was_up = false;
    TimePoint opened{};
    TimePoint last_used{};  // when something was last received
  };

  // A peer that leaves so many control bytes unread is cut off.
  static constexpr std::size_t kControlQueueBytesMax = 2 * wire::kStateInfoPayloadMax;

  Link(LinkContext& context, Mediator& mediator, crypto::TlsContext tls);
  ~Link();

  // One of the three, once: take over a connected socket, connect to a peer that must prove to be `expected`, or meet
  // it at a relay.
  void accept(asio::ip::tcp::socket socket);
  void dial(const asio::ip::tcp::endpoint& endpoint, const PeerId& expected);
  void meet(const reach::RelayPoint& relay, const PeerId& expected, bool calling);

  // Control frames are small and go before all others.
  void send_control(wire::FrameType type, std::span<const std::uint8_t> payload, const GroupId& group = {});
  // Sends what there is to send; cheap when there is nothing, or the socket is full.
  void pump();
  void close(Error why);
  // Adds what TCP has moved since the last call to the context's totals.
  void count_traffic();
  // From now on no faster than so many bytes/s; 0: as fast as TCP allows.
  void set_pace(double bytes_per_s);
  // After a change of the download's limit: little more than it may be on its way to us.
  void limit_window();
  // See FrameWriter: the giver of borrowed payloads is about to go.
  void detach_payload() { writer_.detach_payload(); }

  [[nodiscard]] const Info& info() const { return info_; }

 private:
  void connect(const asio::ip::tcp::endpoint& endpoint, std::function<void()> then);
  void begin_tls(TlsStream::Role role);
  void wait(asio::ip::tcp::socket::wait_type type);
  void on_ready(bool input);
  void on_handshake();
  Status identify();
  void read_frames();
  // Until the budget is used up (done) or the stream stops it.
  IoState read_some(std::size_t& budget);
  Status take_input(std::size_t bytes);
  Result<bool> judge_header();
  Status handle_frame();
  void stop(IoState state);
  void limit_unsent(double bytes_per_s);
  // Lets the socket gather input until it is worth waking up for.
  void gather_input();

  LinkContext& context_;
  Mediator& mediator_;
  crypto::TlsContext tls_;
  Info info_;
  asio::ip::tcp::socket socket_;
  std::shared_ptr<reach::RelayTalk> relay_talk_;  // uses the socket, until it is connected with the peer
  std::unique_ptr<TlsStream> stream_;             // uses the socket's descriptor
  FrameReader reader_;
  FrameWriter writer_;
  bool awaits_input_ = false;
  bool window_limited_ = false;
  bool input_waits_ = false;   // for its turn under the volunteer's limit
  bool output_waits_ = false;  // the same
  bool blocked_ = false;       // awaits room for output
  bool output_over_ = false;
  bool pumping_ = false;
  bool pump_posted_ = false;
  TcpCounters counted_;  // in the context's totals
  TimePoint counted_at_{};
  std::uint64_t pace_;  // bytes/s
  int gather_max_;      // bytes worth waiting for
  int wakes_at_ = 1;    // bytes in the socket that wake us
  int unsent_max_;      // bytes in the kernel beyond which the socket counts as full
};

}  // namespace starling::transport
