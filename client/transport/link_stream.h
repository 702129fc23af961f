// One connection of a link: a socket, TLS over it, and frames both ways. Output is pulled: when the socket can take
// more, the stream asks its owner for the next frame. Net thread only. Held by shared_ptr because waits in flight keep
// it alive.
#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "client/transport/congestion_control.h"
#include "client/transport/frame_reader.h"
#include "client/transport/frame_writer.h"
#include "client/transport/line_limit.h"
#include "client/transport/loss_watch.h"
#include "client/transport/peer_tls_stream.h"
#include "client/transport/socket_buffers.h"
#include "client/transport/stream_meter.h"
#include "client/transport/tcp_counters.h"
#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/wire/frames.h"

namespace starling::transport {

// Objects and totals that all links of a network share. Outlives the links.
struct LinkContext {
  asio::io_context& io;
  const Clock& clock;
  PeerId self;
  RunId run_id;
  std::string congestion_control = {};           // for links that are far; see PeerNetworkOptions
  Duration far_from = LossWatch::kRoundTripMin;  // a link is far from this round trip on
  // Totals that TCP has moved over all links, as far as count_traffic has seen them.
  TcpCounters moved = {};
  // The line that the volunteer allows all links together, and everything else that uses it.
  net::Line& line;
  LineLimit upload{io, clock, line.upload};
  LineLimit download{io, clock, line.download};
  // Shared, because it outlives this context together with streams that the event loop still holds.
  std::shared_ptr<PeerTlsStream::Buffers> buffers = std::make_shared<PeerTlsStream::Buffers>();
  // Bytes of output that each link may gather for its socket, if that takes so much within a moment; also bytes of
  // input that it may take from the socket at a time.
  std::size_t gathers = PeerTlsStream::kBufferBytes;
  // Totals that all links have put on the line and taken from it, as far as count_traffic has seen them.
  net::WireBytes on_wire = {};
};

class LinkStream : public std::enable_shared_from_this<LinkStream> {
 public:
  // The owner hears of everything from within the stream's own turns of the event loop, and may close the stream in any
  // of these calls.
  enum class Disposition : std::uint8_t {
    take,
    skip,   // read past the payload
    later,  // leave the frame where it is until resume()
  };
  class Owner {
   public:
    virtual ~Owner() = default;
    // The handshake is over; an error ends the stream.
    virtual Status stream_secured(LinkStream& stream, const PeerId& peer) = 0;
    // Says what to do with an announced frame; an error ends the stream. Called before memory is set aside.
    virtual Result<Disposition> wants_frame(LinkStream& stream, const wire::FrameHeader& header) = 0;
    // A whole frame arrived, taken or skipped. An error ends the stream.
    virtual Status frame_received(LinkStream& stream, FrameReader& frame) = 0;
    // Bytes were received, maybe whole frames, and this stream now pauses for others' sake.
    virtual void input_paused(LinkStream& stream) = 0;
    virtual bool next_frame(LinkStream& stream, FrameToSend& frame) = 0;
    // Bytes that may be sent now; after 0 the owner will call pump() again. in_yielding: they would belong to a frame
    // that yields.
    virtual std::size_t output_allowed(bool in_yielding) = 0;
    virtual void output_sent(std::size_t bytes) = 0;
    // Called once, just before the stream closes; not for close().
    virtual void stream_ended(LinkStream& stream, const Error& why) = 0;
  };

  // The time that the streams of an ending link have for its last messages.
  static constexpr Duration kLastWords = std::chrono::seconds(1);

  // Takes a connected socket. The owner outlives its open streams.
  LinkStream(LinkContext& context, Owner& owner, asio::ip::tcp::socket socket);
  ~LinkStream();
  void set_owner(Owner& owner) { owner_ = &owner; }

  void begin(const crypto::TlsContext& tls, PeerTlsStream::Role role);
  // Sends a frame before all that are pulled.
  void say_first(std::vector<std::uint8_t> frame);
  // Sends frames that are ready; cheap when there are none, or the socket is full.
  void pump();
  // The frame that was left for later, if one was.
  [[nodiscard]] const wire::FrameHeader* left_for_later() const {
    return input_.left_for_later ? &reader_.header() : nullptr;
  }
  // Asks the owner about that frame again.
  void resume();
  // Writes the data it has taken and `last`, for at most kLastWords, and closes. The owner is not called any more, and
  // may go.
  void finish(std::vector<std::uint8_t> last);
  // Closes at once and drops unwritten data.
  void close();
  // Adds the bytes that TCP has moved since the last call to the context's totals. tick: see LossWatch.
  LossWatch::Finding count_traffic(Duration tick = {});
  // The stream's counters, as count_traffic has seen them last.
  [[nodiscard]] const TcpCounters& counted() const { return meter_.counted(); }
  // Whether ticks come. All links of a round then move their data in ticks: neither input nor room for output wakes us
  // by itself.
  void expect_ticks(bool ticks);
  // Call it when the link has a pace: before its first output in ticks, and several times a second.
  void paced();
  // A tick: takes in the data that has come since the last one, and assumes that the socket has room again.
  void tick();
  // The link has this many streams now.
  void set_company(std::size_t streams);
  // Call it after a change of the download's limit: little more than the limit may be on its way to the link.
  void limit_window();
  // See FrameWriter: the owner of borrowed payloads is about to go.
  void detach_payload() { writer_.detach_payload(); }

 private:
  enum class Phase : std::uint8_t { handshaking, open, finishing, closed };

  void end(const Error& why);
  void wait(asio::ip::tcp::socket::wait_type type);
  // Until the next wait for room, room for output does not wake us.
  void forget_room();
  void on_ready(bool input);
  void on_handshake();
  void read_frames();
  // Reads until about as much as is allowed has been read (done), or the stream stops it.
  IoState read_some(std::size_t allowed, std::size_t& got);
  Status advance(std::size_t bytes);
  Status begin_frame();
  void post_pump();
  bool pull(FrameToSend& frame);
  bool pull_last(FrameToSend& frame);
  [[nodiscard]] std::size_t output_allowed() const;
  // Lets the other end close first: closing a socket that has unread input would drop data on its way to the other end.
  void await_close();
  void discard_input();
  void stop(IoState state);
  // Lets the socket gather input until it is worth waking up for.
  void gather_input();

  struct Input {
    bool awaited = false;         // the event loop will tell when there is some
    bool waits = false;           // for its turn under the volunteer's limit
    bool left_for_later = false;  // the frame whose header was read
  };
  struct Output {
    bool blocked = false;  // waits for room in the socket, or for the next tick
    bool waits = false;    // for its turn under the volunteer's limit
    bool over = false;     // the other end takes no more
    bool pumping = false;
    bool pump_posted = false;
    std::vector<std::uint8_t> last;  // bytes to be written before the stream closes
  };

  LinkContext& context_;
  Owner* owner_;
  asio::ip::tcp::socket socket_;
  std::unique_ptr<PeerTlsStream> tls_;  // uses the socket's descriptor
  Phase phase_ = Phase::handshaking;
  FrameReader reader_;
  FrameWriter writer_;
  std::size_t streams_ = 1;  // number of streams of the link
  bool ended_ = false;       // the owner knows
  Input input_;
  Output output_;
  bool room_wakes_ = true;  // from the first wait for room on, even while nothing waits; connecting waits for it
  std::optional<asio::steady_timer> closes_at_;
  StreamMeter meter_;
  SocketBuffers buffers_;
  bool ticks_ = false;
  WhilePaced while_paced_;
};

}  // namespace starling::transport
