// A link to another volunteer: connect, hello, then frames both ways. Output is pulled: when the link can take more,
// the mediator is asked for the next frame, so nothing queues up here but small control frames. Net thread only; held
// by shared_ptr because waits in flight keep it alive.
#pragma once

#include <asio/ip/tcp.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "client/transport/line_pace.h"
#include "client/transport/link_stream.h"
#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/reach/relay_post.h"
#include "shared/wire/frames.h"

namespace starling::transport {

class Link final : public std::enable_shared_from_this<Link>, private LinkStream::Owner {
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
  ~Link() override;

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
  // From now on no faster than so many bytes/s, in beats; 0: as fast as TCP allows.
  void set_pace(double bytes_per_s);
  // As long as beats come, input waits for the next. Afterwards there is no pace.
  void expect_beats(bool expected);
  // Takes in what has come in this time, and allows for as much output as the pace does; pump() sends it.
  void beat(Duration since_last);
  // After a change of the download's limit: little more than it may be on its way to us.
  void limit_window();
  // See FrameWriter: the giver of borrowed payloads is about to go.
  void detach_payload();

  [[nodiscard]] const Info& info() const { return info_; }

 private:
  void connect(const asio::ip::tcp::endpoint& endpoint, std::function<void()> then);
  void begin_tls(TlsStream::Role role);
  Status stream_secured(LinkStream& stream, const PeerId& peer) override;
  Result<bool> wants_frame(LinkStream& stream, const wire::FrameHeader& header) override;
  Status frame_received(LinkStream& stream, const FrameReader& frame) override;
  void input_paused(LinkStream& stream) override;
  bool next_frame(LinkStream& stream, FrameToSend& frame) override;
  std::size_t output_allowed() override { return pace_.allowed(); }
  void output_sent(std::size_t bytes) override { pace_.sent(bytes); }
  void stream_ended(LinkStream& stream, const Error& why) override;
  Status handle_hello(std::span<const std::uint8_t> payload);

  LinkContext& context_;
  Mediator& mediator_;
  crypto::TlsContext tls_;
  Info info_;
  asio::ip::tcp::socket socket_;                  // until it is connected with the peer
  std::shared_ptr<reach::RelayTalk> relay_talk_;  // uses the socket
  std::shared_ptr<LinkStream> stream_;
  std::deque<std::vector<std::uint8_t>> control_;
  std::size_t control_bytes_ = 0;
  bool beats_ = false;
  PaceShare pace_;
};

}  // namespace starling::transport
