// Keeps this computer posted at a relay, so that others can call it there; reconnects after every break. One thread.
#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "shared/base/clock.h"
#include "shared/crypto/tls.h"
#include "shared/reach/relay_talk.h"

namespace starling::reach {

// Address of a relay. Its source has checked it.
struct RelayPoint {
  PeerId peer;
  asio::ip::tcp::endpoint at;
  friend bool operator==(const RelayPoint&, const RelayPoint&) = default;
};

class RelayPost {
 public:
  using Called = std::function<void(const RelayPoint& relay, const PeerId& caller)>;

  // `clock` outlives the post.
  RelayPost(asio::io_context& io, crypto::TlsContext tls, const Clock& clock, Called called);
  ~RelayPost() { hang_up(); }

  // Posts at this relay from now on; nullopt: at none. An equal relay changes nothing.
  void stay_at(const std::optional<RelayPoint>& relay);
  // `changed` is called from the event loop whenever posted_at() has changed.
  void on_change(std::function<void()> changed) { changed_ = std::move(changed); }
  void renew(crypto::TlsContext tls) { tls_ = std::move(tls); }
  // The relay at which others can call us now.
  [[nodiscard]] std::optional<PeerId> posted_at() const;
  // Reason why there is none; empty otherwise.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  void connect();
  void talk();
  void on_called(const PeerId& caller);
  void on_break(const Error& why);
  void tell_change() const;
  void hang_up();

  asio::io_context& io_;
  crypto::TlsContext tls_;
  const Clock& clock_;
  Called called_;
  std::function<void()> changed_;
  std::optional<RelayPoint> relay_;
  std::shared_ptr<asio::ip::tcp::socket> socket_;
  std::shared_ptr<RelayTalk> talk_;
  asio::steady_timer timer_;  // wait before the next try, or time limit of the present one
  Duration retry_{};
  TimePoint calls_since_{};  // start of the interval that calls_ counts in
  int calls_ = 0;
  bool posted_ = false;
  std::string problem_;
};

}  // namespace starling::reach
