// Two connections that a relay has joined: each gets the bytes that the other sends. One thread: that of the sockets.
#pragma once

#include <array>
#include <asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "shared/base/ids.h"

namespace starling::reach {

class RelayStream : public std::enable_shared_from_this<RelayStream> {
 public:
  static constexpr std::size_t kChunkBytes = 64 * 1024;  // at most this much is held in each direction

  class Mediator {
   public:
    virtual ~Mediator() = default;
    // Calls `go` with the largest size of the next chunk when that chunk may pass: at once, unless the relay is at its
    // rate.
    virtual void await_turn(std::function<void(std::size_t bytes_max)> go) = 0;
    // Counts bytes that have come. False: the pair's allowance is used up, and the stream ends.
    virtual bool count(const RelayStream& stream, std::size_t bytes) = 0;
    // Called once, from the event loop.
    virtual void stream_ended(const RelayStream& stream) = 0;
  };

  // `mediator` must outlive the stream, unless close() is called before it goes.
  RelayStream(Mediator& mediator, PeerId a, PeerId b, std::array<asio::ip::tcp::socket, 2> sockets);

  void start();
  void close();

  [[nodiscard]] const PeerId& first() const { return peers_[0]; }
  [[nodiscard]] const PeerId& second() const { return peers_[1]; }

 private:
  struct Direction {
    asio::ip::tcp::socket& from;
    asio::ip::tcp::socket& to;
    std::vector<std::uint8_t> bytes;
  };

  void pass(Direction& direction);
  void receive(Direction& direction, std::size_t bytes_max);
  void send(Direction& direction, std::size_t bytes);

  Mediator& mediator_;
  std::array<PeerId, 2> peers_;
  std::array<asio::ip::tcp::socket, 2> sockets_;
  std::array<Direction, 2> directions_;
  bool open_ = true;
};

}  // namespace starling::reach
