#include "client/transport/link.h"

#include <fmt/core.h>

#include <algorithm>
#include <asio/post.hpp>

#include "client/transport/congestion_control.h"
#include "shared/crypto/secrets.h"

namespace starling::transport {
namespace {

constexpr std::size_t kWordBytes = 6 * 1024;  // bytes in a sign of life: more than the other end lets gather

std::string text_of(const asio::ip::tcp::endpoint& endpoint) {
  return fmt::format("{} port {}", endpoint.address().to_string(), endpoint.port());
}

std::vector<std::uint8_t> frame_of(wire::FrameType type, std::span<const std::uint8_t> payload, const GroupId& group) {
  const auto payload_bytes = static_cast<std::uint32_t>(payload.size());
  std::vector<std::uint8_t> bytes(wire::kFrameHeaderBytes + payload.size());
  wire::encode_header({.type = type, .payload_bytes = payload_bytes, .group = group},
                      std::span(bytes).first<wire::kFrameHeaderBytes>());
  std::copy(payload.begin(), payload.end(), bytes.begin() + wire::kFrameHeaderBytes);
  return bytes;
}

Error out_of_order(const wire::FrameHeader& header) {
  return {ErrorCode::corrupt, fmt::format("frame {} is out of order", header.number)};
}

}  // namespace

Link::Link(LinkContext& context, Mediator& mediator, crypto::TlsContext tls)
    : context_(context), mediator_(mediator), tls_(std::move(tls)), socket_(context.io) {
  info_.opened = info_.last_used = context.clock.now();
  crypto::fill_random(greeting_.token.bytes);
}

Link::~Link() = default;

void Link::accept(asio::ip::tcp::socket socket) {
  socket_ = std::move(socket);
  asio::error_code error;
  const asio::ip::tcp::endpoint caller = socket_.remote_endpoint(error);
  info_.remote = text_of(caller);
  info_.called_from = reach::prefix_of(caller.address());
  begin_tls(PeerTlsStream::Role::server);
}

void Link::dial(const asio::ip::tcp::endpoint& endpoint, const PeerId& expected) {
  info_.peer = expected;
  info_.dialled = true;
  info_.remote = text_of(endpoint);
  greeting_.dialled = endpoint;
  connect(endpoint, [this] { begin_tls(PeerTlsStream::Role::client); });
}

void Link::meet(const reach::RelayPoint& relay, const PeerId& expected, bool calling) {
  info_.peer = expected;
  info_.dialled = calling;
  info_.relayed = true;
  info_.remote = fmt::format("peer {} over relay {}", expected.brief(), text_of(relay.at));
  connect(relay.at, [this, relay = relay.peer] {
    const reach::RelayTalk::Task task{relay, reach::RelayRequest{reach::RelayRequestKind::call, info_.peer}};
    relay_talk_ = std::make_shared<reach::RelayTalk>(socket_, tls_, context_.clock.wall_now(), task);
    relay_talk_->start([self = shared_from_this()](const Status& status) {
      if (!status.ok()) return self->close(status.error().prefixed(self->info_.remote));
      self->relay_talk_ = nullptr;
      self->begin_tls(self->context_.self < self->info_.peer ? PeerTlsStream::Role::client
                                                             : PeerTlsStream::Role::server);
    });
  });
}

void Link::join(const std::shared_ptr<Link>& link) {
  info_.joins = true;
  greeting_.joins = link;
  dial(link->greeting_.dialled, link->info_.peer);
}

void Link::connect(const asio::ip::tcp::endpoint& endpoint, std::function<void()> then) {
  asio::error_code ignored;  // the connection will show any error
  socket_.open(endpoint.protocol(), ignored);
  begin_congestion_control(socket_.native_handle(), context_.congestion_control);
  socket_.async_connect(endpoint, [self = shared_from_this(), then = std::move(then)](const asio::error_code& error) {
    if (self->info_.phase == Phase::closed) return;
    if (!error) return then();
    self->info_.refused = error == asio::error::connection_refused;
    self->close({ErrorCode::unavailable, fmt::format("dial {}: {}", self->info_.remote, error.message())});
  });
}

void Link::begin_tls(PeerTlsStream::Role role) {
  info_.phase = Phase::handshaking;
  greeting_.speaks_first = role == PeerTlsStream::Role::client;
  LinkStream::Owner& owner = *this;
  const auto stream = std::make_shared<LinkStream>(context_, owner, std::move(socket_));
  streams_.push_back(stream);
  stream->begin(tls_, role);
}

// The certificate proves that the peer is a member; the plan said which one.
Status Link::stream_secured(LinkStream& stream, const PeerId& peer) {
  if ((info_.dialled || info_.relayed) && peer != info_.peer) {
    return Error{ErrorCode::unauthenticated,
                 fmt::format("peer {} answers there, not the planned {}", peer.brief(), info_.peer.brief())};
  }
  if (peer == context_.self) return Error{ErrorCode::unauthenticated, "it shows our own certificate"};
  info_.peer = peer;
  info_.phase = Phase::greeting;
  return greeting_.speaks_first ? introduce(stream) : Status();
}

Status Link::introduce(LinkStream& stream) {
  if (std::exchange(greeting_.said, true)) return {};
  if (!info_.joins) {
    const wire::Hello hello{
        .protocol = wire::kPeerProtocolVersion, .run_id = context_.run_id, .token = greeting_.token};
    stream.say_first(frame_of(wire::FrameType::hello, wire::encode(hello), {}));
    return {};
  }
  const std::shared_ptr<Link> link = greeting_.joins.lock();
  if (link == nullptr || link->info_.phase != Phase::up) return Error{ErrorCode::unavailable, "its link has ended"};
  stream.say_first(frame_of(wire::FrameType::join, wire::encode(wire::Join{link->greeting_.peer_token}), {}));
  return {};
}

Result<LinkStream::Disposition> Link::wants_frame(LinkStream& /*stream*/, const wire::FrameHeader& header) {
  using Disposition = LinkStream::Disposition;
  const bool first = header.type == wire::FrameType::hello || header.type == wire::FrameType::join;
  if (first != (info_.phase == Phase::greeting)) {
    return Error{ErrorCode::corrupt, first ? "a hello out of place" : "something was sent before hello"};
  }
  if (first) return Disposition::take;
  const FrameOrder::Turn turn = order_.turn_of(header);
  // The answer to our join may still be on its way, on the stream with the missing frame.
  const bool alone = streams_.size() == 1 && !widening_.joining() && !info_.ending;
  if (turn == FrameOrder::Turn::past || (turn == FrameOrder::Turn::early && alone)) return out_of_order(header);
  if (turn == FrameOrder::Turn::early) return Disposition::later;
  if (header.type == wire::FrameType::widen) return Disposition::take;
  STARLING_ASSIGN(const bool wanted, mediator_.wants_frame(*this, header));
  return wanted ? Disposition::take : Disposition::skip;
}

Status Link::frame_received(LinkStream& stream, FrameReader& frame) {
  info_.last_used = context_.clock.now();
  const wire::FrameHeader& header = frame.header();
  if (header.type == wire::FrameType::hello) return handle_hello(stream, frame.payload());
  if (header.type == wire::FrameType::join) return handle_join(stream, frame.payload());
  // Two streams may have begun the same frame before either had all of it.
  if (order_.turn_of(header) != FrameOrder::Turn::now) return out_of_order(header);
  if (header.type == wire::FrameType::widen) {
    if (info_.dialled) widen();
  } else if (frame.wanted()) {
    STARLING_TRY(mediator_.frame_received(*this, header, frame.payload()));
  }
  order_.advance(header.type);
  // Other streams may have waited for this frame.
  for (std::size_t i = 0; streams_.size() > 1 && i < streams_.size(); ++i) {
    const wire::FrameHeader* const waits = streams_[i]->left_for_later();
    if (waits != nullptr && order_.turn_of(*waits) != FrameOrder::Turn::early) streams_[i]->resume();
  }
  return {};
}

Status Link::handle_hello(LinkStream& stream, std::span<const std::uint8_t> payload) {
  if (info_.joins) return Error{ErrorCode::corrupt, "a hello in answer to a join"};
  if (!greeting_.speaks_first) STARLING_TRY(introduce(stream));  // even a peer that is refused here should learn why
  STARLING_ASSIGN(const wire::Hello hello, wire::decode_hello(payload));
  if (hello.protocol != wire::kPeerProtocolVersion) {
    return Error{ErrorCode::unsupported, fmt::format("peer speaks version {} of the protocol, this program {}",
                                                     hello.protocol, wire::kPeerProtocolVersion)};
  }
  if (hello.run_id != context_.run_id) {
    return Error{ErrorCode::failed_precondition, fmt::format("peer takes part in another run, '{}'", hello.run_id)};
  }
  greeting_.peer_token = hello.token;
  info_.phase = Phase::up;
  info_.was_up = true;
  mediator_.link_up(*this);
  return {};
}

// Only the peer at the link's other end knows the token, and this stream's end has proven to be that peer.
Status Link::handle_join(LinkStream& stream, std::span<const std::uint8_t> payload) {
  STARLING_ASSIGN(const wire::Join join, wire::decode_join(payload));
  std::shared_ptr<Link> link = greeting_.joins.lock();
  if (!greeting_.speaks_first) {
    Link* const found = mediator_.link_to_join(info_.peer, join.token);
    if (found != nullptr && !found->info_.dialled && !found->info_.relayed) link = found->shared_from_this();
  } else if (!info_.joins || link == nullptr || join.token != link->greeting_.token) {
    return Error{ErrorCode::corrupt, "a join that is no answer to ours"};
  }
  if (link == nullptr || link.get() == this || link->info_.phase != Phase::up) {
    return Error{ErrorCode::failed_precondition, "a join to a link that is not there"};
  }
  if (link->streams_.size() >= wire::kLinkStreamsMax) {
    return Error{ErrorCode::resource_exhausted, "a join to a link that has all its streams"};
  }
  info_.joins = true;
  greeting_.joins = link;
  if (!greeting_.speaks_first) STARLING_TRY(introduce(stream));
  link->adopt(std::exchange(streams_.front(), nullptr));
  streams_.clear();
  greeting_.joins.reset();
  close({ErrorCode::already_exists, "it has become a stream of another link"});
  return {};
}

void Link::adopt(std::shared_ptr<LinkStream> stream) {
  stream->set_owner(*this);
  stream->expect_ticks(pacing_.ticks);
  streams_.push_back(std::move(stream));
  for (const auto& each : streams_) each->set_company(streams_.size());
  if (widening_.on_joined(streams_.size())) add_stream();
  pump();
}

void Link::join_failed() { widening_.on_failed(context_.clock.now(), streams_.size()); }

void Link::widen() {
  widening_.forget_losses();
  if (info_.phase != Phase::up || info_.relayed || streams_.size() >= wire::kLinkStreamsMax) return;
  if (!info_.dialled) return send_control(wire::FrameType::widen, {});
  if (!widening_.may_begin(context_.clock.now())) return;
  widening_.begin(streams_.size(), wire::kLinkStreamsMax);
  add_stream();
}

void Link::add_stream() {
  widening_.on_asked();
  asio::post(context_.io, [self = shared_from_this()] {
    if (self->info_.phase == Phase::up && !self->mediator_.add_stream(*self)) self->join_failed();
  });
}

void Link::input_paused(LinkStream& /*stream*/) {
  if (info_.phase != Phase::closed) mediator_.input_paused(*this);
}

bool Link::next_frame(LinkStream& /*stream*/, FrameToSend& frame) {
  if (info_.phase != Phase::up) return false;
  if (!control_.empty()) {
    frame.frame.head = control_.pop();
    frame.frame.payload = {};
  } else if (!mediator_.next_frame(*this, frame)) {
    return false;
  }
  sent_.stamp(std::span(frame.frame.head).first<wire::kFrameHeaderBytes>());
  return true;
}

void Link::send_control(wire::FrameType type, std::span<const std::uint8_t> payload, const GroupId& group) {
  if (info_.phase != Phase::up) return;
  control_.push(frame_of(type, payload, group));
  if (control_.bytes() > kControlQueueBytesMax) {
    return cut({ErrorCode::resource_exhausted, fmt::format("{}: peer does not read", info_.remote)});
  }
  pump();
}

void Link::pump() {
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const std::shared_ptr<LinkStream> stream = streams_[(turn_ + i) % streams_.size()];  // a copy: it may end and go
    stream->pump();
  }
  ++turn_;
}

std::size_t Link::output_allowed(bool in_yielding) {
  return in_yielding && mediator_.holds_back(*this) ? pacing_.word : pacing_.share.allowed();
}

void Link::output_sent(std::size_t bytes) {
  pacing_.word -= std::min(pacing_.word, bytes);
  pacing_.share.sent(bytes);
}

void Link::show_life() {
  pacing_.word = kWordBytes;
  send_control(wire::FrameType::pong, {});
}

std::optional<Duration> Link::count_traffic() {
  TcpCounters moved;
  std::optional<Duration> queue;
  for (const auto& stream : streams_) {
    const TcpCounters before = stream->counted();
    const LossWatch::Finding finding = stream->count_traffic(pacing_.tick);
    widening_.note(finding);
    const TcpCounters& after = stream->counted();
    moved.bytes_delivered += after.bytes_delivered - before.bytes_delivered;
    if (after.bytes_acknowledged > before.bytes_acknowledged) {
      const Duration waits = after.round_trip - after.round_trip_least;
      queue = std::min(queue.value_or(waits), waits);
    }
    moved.bytes_sent += after.bytes_sent - before.bytes_sent;
    moved.bytes_received += after.bytes_received - before.bytes_received;
    moved.packets_behind_gap += after.packets_behind_gap - before.packets_behind_gap;
  }
  meters_.queue = queue.value_or(meters_.queue);
  const TimePoint now = context_.clock.now();
  meters_.upload.note(now, moved.bytes_delivered, moved.bytes_sent);
  meters_.download.note_in_order(now, moved.bytes_received, moved.packets_behind_gap);
  if (widening_.is_due()) widen();
  return queue;
}

PeerSpeed Link::speed() const {
  PeerSpeed speed{info_.peer, meters_.upload.bytes_per_s(), meters_.download.bytes_per_s(), {}};
  if (info_.relayed) return speed;  // the kernel knows only the way to the relay
  for (const auto& stream : streams_) speed.merge({.round_trip = stream->counted().round_trip_least});
  return speed;
}

void Link::set_pace(double bytes_per_s) {
  pacing_.share.set(pacing_.ticks ? bytes_per_s : 0);
  if (!pacing_.share.limits()) return;
  for (const auto& stream : streams_) stream->paced();
}

void Link::expect_ticks(bool ticks) {
  if (pacing_.ticks == ticks || info_.phase != Phase::up) return;
  pacing_.ticks = ticks;
  for (const auto& stream : streams_) stream->expect_ticks(ticks);
  if (ticks) return;
  pacing_.tick = {};
  pacing_.share.set(0);
  pump();
}

void Link::tick(Duration since_last) {
  if (info_.phase != Phase::up) return;
  pacing_.tick = since_last;
  pacing_.share.tick(since_last);
  const std::vector<std::shared_ptr<LinkStream>> streams = streams_;  // a copy: their input may add or end some
  for (const auto& stream : streams) stream->tick();
}

void Link::limit_window() {
  for (const auto& stream : streams_) stream->limit_window();
}

void Link::detach_payload() {
  for (const auto& stream : streams_) stream->detach_payload();
}

// Data on its way on that stream is lost. But an end that closes a link ends all its streams, in any order, and the
// last messages on the others are worth hearing.
void Link::stream_ended(LinkStream& stream, const Error& why) {
  const bool silent = info_.phase == Phase::greeting && !greeting_.speaks_first;
  if (silent && why.code == ErrorCode::unsupported) (void)introduce(stream);  // so that it learns our protocol version
  const bool whole = streams_.size() < 2 || info_.phase != Phase::up || why.code != ErrorCode::unavailable;
  const Error named = why.prefixed(streams_.size() < 2 ? info_.remote : info_.remote + ", one of several streams");
  std::erase_if(streams_, [&](const auto& each) { return each.get() == &stream; });
  if (whole) return cut(named);
  if (!info_.ending) info_.ending = {context_.clock.now() + LinkStream::kLastWords, named};
}

void Link::close(Error why) {
  if (info_.phase != Phase::up) return cut(std::move(why));
  std::vector<std::uint8_t> last = control_.take_all(sent_);  // frames that no stream has taken yet
  for (const auto& stream : streams_) stream->finish(std::exchange(last, {}));
  part(std::move(why));
}

void Link::cut(Error why) {
  if (info_.phase == Phase::closed) return;
  for (const auto& stream : streams_) stream->close();
  part(std::move(why));
}

void Link::part(Error why) {
  info_.phase = Phase::closed;
  if (relay_talk_ != nullptr) std::exchange(relay_talk_, nullptr)->cancel();
  if (const std::shared_ptr<Link> link = greeting_.joins.lock()) link->join_failed();
  asio::error_code ignored;
  socket_.close(ignored);
  asio::post(context_.io,
             [self = shared_from_this(), why = std::move(why)] { self->mediator_.link_closed(*self, why); });
}

}  // namespace starling::transport
