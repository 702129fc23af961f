#include "client/transport/link.h"

#include <fmt/core.h>

#include <algorithm>
#include <asio/post.hpp>

namespace starling::transport {
namespace {

constexpr std::uint32_t kHelloBytesMax = 1024;

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

}  // namespace

Link::Link(LinkContext& context, Mediator& mediator, crypto::TlsContext tls)
    : context_(context), mediator_(mediator), tls_(std::move(tls)), socket_(context.io) {
  info_.opened = info_.last_used = context.clock.now();
}

Link::~Link() = default;

void Link::accept(asio::ip::tcp::socket socket) {
  socket_ = std::move(socket);
  asio::error_code error;
  info_.remote = text_of(socket_.remote_endpoint(error));
  begin_tls(TlsStream::Role::server);
}

void Link::dial(const asio::ip::tcp::endpoint& endpoint, const PeerId& expected) {
  info_.peer = expected;
  info_.dialled = true;
  info_.remote = text_of(endpoint);
  connect(endpoint, [this] { begin_tls(TlsStream::Role::client); });
}

void Link::meet(const reach::RelayPoint& relay, const PeerId& expected, bool calling) {
  info_.peer = expected;
  info_.dialled = calling;
  info_.relayed = true;
  info_.remote = fmt::format("peer {} over relay {}", expected.brief(), text_of(relay.at));
  connect(relay.at, [this, relay = relay.peer] {
    const reach::RelayTalk::Wish wish{relay, reach::RelayRequest{reach::RelayRequestKind::call, info_.peer}};
    relay_talk_ = std::make_shared<reach::RelayTalk>(socket_, tls_, context_.clock.wall_now(), wish);
    relay_talk_->start([self = shared_from_this()](const Status& status) {
      if (!status.ok()) return self->close(status.error().prefixed(self->info_.remote));
      self->relay_talk_ = nullptr;
      self->begin_tls(self->context_.self < self->info_.peer ? TlsStream::Role::client : TlsStream::Role::server);
    });
  });
}

void Link::connect(const asio::ip::tcp::endpoint& endpoint, std::function<void()> then) {
  socket_.async_connect(endpoint, [self = shared_from_this(), then = std::move(then)](const asio::error_code& error) {
    if (self->info_.phase == Phase::closed) return;
    if (!error) return then();
    self->close({ErrorCode::unavailable, fmt::format("dial {}: {}", self->info_.remote, error.message())});
  });
}

void Link::begin_tls(TlsStream::Role role) {
  info_.phase = Phase::handshaking;
  LinkStream::Owner& owner = *this;
  stream_ = std::make_shared<LinkStream>(context_, owner, std::move(socket_));
  stream_->begin(tls_, role);
}

// The certificate proves a member; the plan said which one.
Status Link::stream_secured(LinkStream& stream, const PeerId& peer) {
  if ((info_.dialled || info_.relayed) && peer != info_.peer) {
    return Error{ErrorCode::unauthenticated,
                 fmt::format("peer {} answers there, not the planned {}", peer.brief(), info_.peer.brief())};
  }
  if (peer == context_.self) return Error{ErrorCode::unauthenticated, "it shows our own certificate"};
  info_.peer = peer;
  info_.phase = Phase::greeting;
  const auto hello = wire::encode(wire::Hello{.protocol = wire::kPeerProtocolVersion, .run_id = context_.run_id});
  stream.say_first(frame_of(wire::FrameType::hello, hello, {}));
  return {};
}

Result<bool> Link::wants_frame(LinkStream& /*stream*/, const wire::FrameHeader& header) {
  const bool hello = header.type == wire::FrameType::hello;
  if (info_.phase == Phase::up && !hello) return mediator_.wants_frame(*this, header);
  if (info_.phase == Phase::greeting && hello && header.payload_bytes <= kHelloBytesMax) return true;
  return Error{ErrorCode::corrupt, hello ? "a hello out of place" : "something was sent before hello"};
}

Status Link::frame_received(LinkStream& /*stream*/, const FrameReader& frame) {
  info_.last_used = context_.clock.now();
  if (info_.phase != Phase::up) return handle_hello(frame.payload());
  return frame.wanted() ? mediator_.frame_received(*this, frame.header(), frame.payload()) : Status();
}

Status Link::handle_hello(std::span<const std::uint8_t> payload) {
  STARLING_ASSIGN(const wire::Hello hello, wire::decode_hello(payload));
  if (hello.protocol != wire::kPeerProtocolVersion) {
    return Error{ErrorCode::unsupported, fmt::format("peer speaks version {} of the protocol, this program {}",
                                                     hello.protocol, wire::kPeerProtocolVersion)};
  }
  if (hello.run_id != context_.run_id) {
    return Error{ErrorCode::failed_precondition, fmt::format("peer takes part in another run, '{}'", hello.run_id)};
  }
  info_.phase = Phase::up;
  info_.was_up = true;
  mediator_.link_up(*this);
  return {};
}

void Link::input_paused(LinkStream& /*stream*/) { mediator_.input_paused(*this); }

bool Link::next_frame(LinkStream& /*stream*/, FrameToSend& frame) {
  if (info_.phase != Phase::up) return false;
  if (control_.empty()) return mediator_.next_frame(*this, frame);
  control_bytes_ -= control_.front().size();
  frame.frame.head = std::move(control_.front());
  frame.frame.payload = {};
  control_.pop_front();
  return true;
}

void Link::send_control(wire::FrameType type, std::span<const std::uint8_t> payload, const GroupId& group) {
  if (info_.phase != Phase::up) return;
  control_.push_back(frame_of(type, payload, group));
  control_bytes_ += control_.back().size();
  if (control_bytes_ > kControlQueueBytesMax) {
    return close({ErrorCode::resource_exhausted, fmt::format("{}: peer does not read", info_.remote)});
  }
  pump();
}

void Link::pump() {
  if (stream_ != nullptr) stream_->pump();
}

void Link::count_traffic() {
  if (stream_ != nullptr) stream_->count_traffic();
}

void Link::set_pace(double bytes_per_s) { pace_.set(beats_ ? bytes_per_s : 0); }

void Link::expect_beats(bool expected) {
  if (beats_ == expected || info_.phase != Phase::up) return;
  beats_ = expected;
  stream_->expect_beats(expected);
  if (expected) return;
  pace_.set(0);
  pump();
}

void Link::beat(Duration since_last) {
  if (info_.phase != Phase::up) return;
  pace_.beat(since_last);
  stream_->take_input();
}

void Link::limit_window() {
  if (stream_ != nullptr) stream_->limit_window();
}

void Link::detach_payload() {
  if (stream_ != nullptr) stream_->detach_payload();
}

void Link::stream_ended(LinkStream& /*stream*/, const Error& why) { close(why.prefixed(info_.remote)); }

void Link::close(Error why) {
  if (info_.phase == Phase::closed) return;
  info_.phase = Phase::closed;
  if (relay_talk_ != nullptr) std::exchange(relay_talk_, nullptr)->cancel();
  if (stream_ != nullptr) stream_->close();
  asio::error_code ignored;
  socket_.close(ignored);
  asio::post(context_.io,
             [self = shared_from_this(), why = std::move(why)] { self->mediator_.link_closed(*self, why); });
}

}  // namespace starling::transport
