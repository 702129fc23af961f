// The relaying end: two computers meet here, and the relay passes on their bytes, which it cannot read. RelayRules
// decides who may meet and how many bytes they may pass in a round; RelayLimits bounds how many peers are here at once,
// and the rate. At a limited rate, streams take turns. One thread: that of `io`.
#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "shared/base/clock.h"
#include "shared/base/limited_log.h"
#include "shared/crypto/tls.h"
#include "shared/reach/relay_protocol.h"
#include "shared/reach/relay_stream.h"
#include "shared/reach/relay_types.h"

namespace starling::reach {

class Relay final : private RelayStream::Mediator {
 public:
  // `clock` and `rules` outlive the relay.
  Relay(asio::io_context& io, crypto::TlsContext tls, const Clock& clock, RelayRules& rules, RelayLimits limits = {});
  ~Relay() override;

  // Takes a connection that begins with the greeting.
  void take(asio::ip::tcp::socket socket);
  // Applies to connections from now on.
  void renew(crypto::TlsContext tls) { tls_ = std::move(tls); }
  void set_rate(double bytes_per_s) { limits_.bytes_per_s = bytes_per_s; }
  [[nodiscard]] RelayStats stats() const;

 private:
  class Visitor;
  friend class Visitor;
  using Pair = std::pair<PeerId, PeerId>;  // caller, called
  struct Account {
    RoundIndex round = -1;
    std::int64_t bytes = 0;  // bytes passed in that round
    std::int64_t bytes_max = 0;
    TimePoint told_at{};  // when a posted peer last heard of a call of this account
  };
  struct Stream {
    std::shared_ptr<RelayStream> stream;
    Pair account;
    std::int64_t number = 0;  // in the order of joining
  };

  // Events of a visitor.
  void on_post(const std::shared_ptr<Visitor>& visitor);
  void on_call(const std::shared_ptr<Visitor>& visitor, const PeerId& called);
  void on_left(const std::shared_ptr<Visitor>& visitor);

  void refuse(Visitor& visitor, RelayAnswer why);
  [[nodiscard]] bool has_room_for(const PeerId& peer) const;
  [[nodiscard]] Account& renewed(const RelayAllowance& allowance);
  void join(Visitor& caller, Visitor& called, const Pair& account);
  void make_room_for(const Pair& pair);
  void forget_idle_accounts();
  void give_turns();

  void await_turn(std::function<void(std::size_t)> go) override;
  bool count(const RelayStream& stream, std::size_t bytes) override;
  void stream_ended(const RelayStream& stream) override;

  asio::io_context& io_;
  crypto::TlsContext tls_;
  const Clock& clock_;
  RelayRules& rules_;
  RelayLimits limits_;
  TimePoint free_at_{};                                 // when all bytes so far would have passed at the allowed rate
  std::deque<std::function<void(std::size_t)>> turns_;  // at most one for each direction of a stream
  asio::steady_timer next_turn_;
  LimitedLog cut_;
  bool turns_wait_ = false;  // next_turn_ is running
  std::int64_t visitors_total_ = 0;
  std::map<std::int64_t, std::shared_ptr<Visitor>> visitors_;  // all but the posts; oldest first
  std::unordered_map<PeerId, std::shared_ptr<Visitor>> posts_;
  // Visitors whose calls the other end has not answered by a call yet.
  std::map<Pair, std::shared_ptr<Visitor>> waiting_;
  std::unordered_map<const RelayStream*, Stream> streams_;
  std::map<Pair, Account> accounts_;
  RelayStats stats_;
};

}  // namespace starling::reach
