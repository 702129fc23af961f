// A link to another volunteer: connect, hello, then frames both ways. Output is pulled: when the link can take more, it
// asks the mediator for the next frame, so nothing queues up here but small control frames. Net thread only. Held by
// shared_ptr because waits in flight keep it alive.
#pragma once

#include <asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "client/transport/control_queue.h"
#include "client/transport/frame_order.h"
#include "client/transport/line_pace.h"
#include "client/transport/link_stream.h"
#include "client/transport/peer_network.h"
#include "client/transport/rate_meter.h"
#include "client/transport/widening.h"
#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/reach/address_prefix.h"
#include "shared/reach/relay_post.h"
#include "shared/wire/frames.h"

namespace starling::transport {

class Link final : public std::enable_shared_from_this<Link>, private LinkStream::Owner {
 public:
  // The owner of everything that needs to know more than one link.
  class Mediator {
   public:
    virtual ~Mediator() = default;
    virtual void link_up(Link& link) = 0;
    // Whether the announced payload is wanted; an error cuts the link. Called before memory is set aside.
    virtual Result<bool> wants_frame(Link& link, const wire::FrameHeader& header) = 0;
    // A wanted frame arrived. An error cuts the link.
    virtual Status frame_received(Link& link, const wire::FrameHeader& header,
                                  std::span<const std::uint8_t> payload) = 0;
    // Bytes were received, maybe whole frames, and this link now pauses for other links' sake.
    virtual void input_paused(Link& link) = 0;
    virtual bool next_frame(Link& link, FrameToSend& frame) = 0;
    // Whether the rest of a frame that yields waits now. If so, pump() will be called when it may go on.
    virtual bool holds_back(Link& link) = 0;
    // This link, which we dialled, would carry more with another stream: make a new link that will join() it. False: no
    // room.
    virtual bool add_stream(Link& link) = 0;
    // The link with this peer that has this token and may have another stream; null when there is none.
    virtual Link* link_to_join(const PeerId& peer, const wire::LinkToken& token) = 0;
    // Called once, from the event loop: never from within a call of one of the link's methods.
    virtual void link_closed(Link& link, const Error& why) = 0;
  };

  enum class Phase : std::uint8_t { connecting, handshaking, greeting, up, closed };

  // One of several streams has ended: the others have a moment to deliver the other end's last messages.
  struct Ending {
    TimePoint at{};
    Error why;
  };

  struct Info {
    PeerId peer;  // expected when dialling; proven from `greeting` on
    bool dialled = false;
    bool relayed = false;                             // the two ends met at a relay
    std::string remote;                               // address and port, for messages
    std::optional<reach::AddressPrefix> called_from;  // the network of an accepted call
    Phase phase = Phase::connecting;
    bool was_up = false;
    bool refused = false;  // nobody listens at the dialled address
    TimePoint opened{};
    TimePoint last_used{};  // when something was received last
    bool joins = false;     // it is to become, or has become, a further stream of another link
    std::optional<Ending> ending;
  };

  // A peer that leaves this many control bytes unread is cut off.
  static constexpr std::size_t kControlQueueBytesMax = 2 * wire::kStateInfoPayloadMax;

  // Least bytes at a stretch from which a link's speed is reported: a member's share of a small vector.
  static constexpr std::int64_t kSpeedBytes = 32 * 1024;

  Link(LinkContext& context, Mediator& mediator, crypto::TlsContext tls);
  ~Link() override;

  // Call one of the four, once: take over a connected socket, connect to a peer that must prove to be `expected`, meet
  // it at a relay, or connect as a further stream of a link that was dialled.
  void accept(asio::ip::tcp::socket socket);
  void dial(const asio::ip::tcp::endpoint& endpoint, const PeerId& expected);
  void meet(const reach::RelayPoint& relay, const PeerId& expected, bool calling);
  void join(const std::shared_ptr<Link>& link);

  // Control frames are small and go before all others.
  void send_control(wire::FrameType type, std::span<const std::uint8_t> payload, const GroupId& group = {});
  // Sends frames that are ready; cheap when there are none, or the socket is full.
  void pump();
  // Sends a sign of life: a frame or, where a frame is held back, some bytes of it.
  void show_life();
  // Frames that streams have taken or send_control() was given are still written, as far as the other end takes them
  // within LinkStream::kLastWords. Nothing is read any more.
  void close(Error why);
  // Adds the bytes that TCP has moved since the last call to the context's totals and to the speeds in speed(). Returns
  // how long packets wait on this way, if any was acknowledged meanwhile.
  std::optional<Duration> count_traffic();
  // From now on at most this many bytes/s, in ticks; 0: as fast as TCP allows.
  void set_pace(double bytes_per_s);
  // Whether ticks of a round come. When they end, the pace ends too.
  void expect_ticks(bool ticks);
  // A tick: takes in the data that has come since the last one, and adds to the output that the pace allows; pump()
  // sends it.
  void tick(Duration since_last);
  // Call it after a change of the download's limit: little more than the limit may be on its way to us.
  void limit_window();
  // See FrameWriter: the owner of borrowed payloads is about to go.
  void detach_payload();

  [[nodiscard]] const Info& info() const { return info_; }
  [[nodiscard]] const wire::LinkToken& token() const { return greeting_.token; }
  [[nodiscard]] std::size_t streams() const { return streams_.size(); }
  [[nodiscard]] PeerSpeed speed() const;
  // How long packets waited on this way when some were acknowledged last.
  [[nodiscard]] Duration queue() const { return meters_.queue; }

 private:
  void connect(const asio::ip::tcp::endpoint& endpoint, std::function<void()> then);
  void begin_tls(PeerTlsStream::Role role);
  Status stream_secured(LinkStream& stream, const PeerId& peer) override;
  Result<LinkStream::Disposition> wants_frame(LinkStream& stream, const wire::FrameHeader& header) override;
  Status frame_received(LinkStream& stream, FrameReader& frame) override;
  void input_paused(LinkStream& stream) override;
  bool next_frame(LinkStream& stream, FrameToSend& frame) override;
  std::size_t output_allowed(bool in_yielding) override;
  void output_sent(std::size_t bytes) override;
  void stream_ended(LinkStream& stream, const Error& why) override;

  // Sends the first frame: the TLS client speaks first.
  Status introduce(LinkStream& stream);
  Status handle_hello(LinkStream& stream, std::span<const std::uint8_t> payload);
  Status handle_join(LinkStream& stream, std::span<const std::uint8_t> payload);
  // Asks for more streams; does nothing where there can be none.
  void widen();
  void add_stream();
  void adopt(std::shared_ptr<LinkStream> stream);
  // Closes like close(), but drops unwritten data: there is nobody to write it to, or nobody who deserves it.
  void cut(Error why);
  void part(Error why);
  // The stream that was to join this link will not.
  void join_failed();

  // The first frames on a link, by which its two ends know each other.
  struct Greeting {
    bool speaks_first = false;  // the TLS client does
    bool said = false;
    wire::LinkToken token;
    wire::LinkToken peer_token;  // token of this link at the other end
    asio::ip::tcp::endpoint dialled;
    std::weak_ptr<Link> joins;  // the link that this is to be a stream of
  };
  // Output in the ticks of a round.
  struct Pacing {
    bool ticks = false;
    Duration tick{};  // time of the last tick, while ticks come
    PaceShare share;
    std::size_t word = 0;  // bytes that may go out of a frame that is held back
  };
  struct Meters {
    RateMeter upload{kSpeedBytes};
    RateMeter download{kSpeedBytes};
    Duration queue{};
  };

  LinkContext& context_;
  Mediator& mediator_;
  crypto::TlsContext tls_;
  Info info_;
  asio::ip::tcp::socket socket_;                  // until it is connected with the peer
  std::shared_ptr<reach::RelayTalk> relay_talk_;  // uses the socket
  Greeting greeting_;
  std::vector<std::shared_ptr<LinkStream>> streams_;
  std::size_t turn_ = 0;  // index of the stream whose turn it is to send first
  Widening widening_;
  ControlQueue control_;
  FrameCount sent_;
  FrameOrder order_;  // order of frames received
  Pacing pacing_;
  Meters meters_;
};

}  // namespace starling::transport
