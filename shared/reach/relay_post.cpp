#include "shared/reach/relay_post.h"

#include <algorithm>
#include <utility>

#include "shared/base/log.h"

namespace starling::reach {
namespace {

constexpr Duration kRetryFirst = std::chrono::milliseconds(250);
constexpr Duration kRetryMax = std::chrono::seconds(15);
constexpr Duration kPatience = std::chrono::seconds(10);
// Each call that we hear of makes us call the relay. Groups that meet at relays have fewer members; calls beyond the
// bound are ignored.
constexpr int kCallsMax = 256;
constexpr Duration kCallsTime = std::chrono::seconds(10);

}  // namespace

RelayPost::RelayPost(asio::io_context& io, crypto::TlsContext tls, const Clock& clock, Called called)
    : io_(io), tls_(std::move(tls)), clock_(clock), called_(std::move(called)), timer_(io) {}

void RelayPost::stay_at(const std::optional<RelayPoint>& relay) {
  if (relay == relay_) return;
  hang_up();
  relay_ = relay;
  retry_ = kRetryFirst;
  problem_.clear();
  if (relay_) connect();
}

std::optional<PeerId> RelayPost::posted_at() const {
  if (!posted_ || !relay_) return std::nullopt;
  return relay_->peer;
}

void RelayPost::hang_up() {
  posted_ = false;
  timer_.cancel();
  if (talk_ != nullptr) std::exchange(talk_, nullptr)->cancel();
  asio::error_code ignored;
  if (socket_ != nullptr) std::exchange(socket_, nullptr)->close(ignored);
}

void RelayPost::connect() {
  socket_ = std::make_shared<asio::ip::tcp::socket>(io_);
  timer_.expires_after(kPatience);
  timer_.async_wait([this, socket = socket_](const asio::error_code& stopped) {
    if (!stopped && !posted_ && socket == socket_) {
      on_break({ErrorCode::deadline_exceeded, "relay: no answer in time"});
    }
  });
  socket_->async_connect(relay_->at, [this, socket = socket_](const asio::error_code& error) {
    if (!socket->is_open() || error == asio::error::operation_aborted) return;  // hung up meanwhile
    if (error) return on_break({ErrorCode::unavailable, "dial the relay: " + error.message()});
    talk();
  });
}

void RelayPost::talk() {
  const RelayTalk::Task task{relay_->peer, RelayRequest{RelayRequestKind::post, {}}};
  talk_ = std::make_shared<RelayTalk>(*socket_, tls_, clock_.wall_now(), task);
  talk_->start([this](const Status& status) {
    if (!status.ok()) return on_break(status.error());
    posted_ = true;
    retry_ = kRetryFirst;
    problem_.clear();
    timer_.cancel();
    tell_change();
    log_debug("others can call us at relay {}", relay_->peer.brief());
    talk_->await_calls([this](const Result<PeerId>& caller) {
      if (!caller) return on_break(caller.error());
      on_called(*caller);
    });
  });
}

void RelayPost::on_called(const PeerId& caller) {
  const TimePoint now = clock_.now();
  if (now >= calls_since_ + kCallsTime) {
    calls_since_ = now;
    calls_ = 0;
  }
  if (++calls_ <= kCallsMax) return called_(*relay_, caller);
  if (calls_ == kCallsMax + 1) log_warning("relay {} tells of more calls than anybody makes", relay_->peer.brief());
}

void RelayPost::tell_change() const {
  if (const auto changed = changed_) changed();
}

void RelayPost::on_break(const Error& why) {
  const bool was_posted = posted_;
  hang_up();
  if (was_posted) tell_change();
  if (problem_ != why.message) log_debug("post at relay {}: {}", relay_->peer.brief(), why.message);
  problem_ = why.message;
  timer_.expires_after(retry_);
  retry_ = std::min(2 * retry_, kRetryMax);
  timer_.async_wait([this](const asio::error_code& stopped) {
    if (!stopped && socket_ == nullptr) connect();
  });
}

}  // namespace starling::reach
