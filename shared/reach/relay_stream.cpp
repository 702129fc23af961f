#include "shared/reach/relay_stream.h"

#include <algorithm>
#include <asio/buffer.hpp>
#include <asio/post.hpp>
#include <asio/write.hpp>
#include <utility>

namespace starling::reach {

RelayStream::RelayStream(Mediator& mediator, PeerId a, PeerId b, std::array<asio::ip::tcp::socket, 2> sockets)
    : mediator_(mediator),
      peers_{a, b},
      sockets_(std::move(sockets)),
      directions_{{{sockets_[0], sockets_[1], {}}, {sockets_[1], sockets_[0], {}}}} {}

void RelayStream::start() {
  asio::error_code error;
  for (asio::ip::tcp::socket& socket : sockets_) socket.non_blocking(true, error);
  for (Direction& direction : directions_) {
    direction.bytes.resize(kChunkBytes);
    pass(direction);
  }
}

void RelayStream::close() {
  if (!std::exchange(open_, false)) return;
  asio::error_code ignored;
  for (asio::ip::tcp::socket& socket : sockets_) socket.close(ignored);
  asio::post(sockets_[0].get_executor(), [self = shared_from_this()] { self->mediator_.stream_ended(*self); });
}

// Asks for a turn only when bytes wait, and counts them before another stream gets its turn.
void RelayStream::pass(Direction& direction) {
  direction.from.async_wait(
      asio::ip::tcp::socket::wait_read, [self = shared_from_this(), &direction](const asio::error_code& error) {
        if (!self->open_) return;
        if (error) return self->close();
        self->mediator_.await_turn([waiting = self->weak_from_this(), &direction](std::size_t bytes_max) {
          const auto stream = waiting.lock();  // a closed stream is not kept alive by its turn
          if (stream != nullptr && stream->open_) stream->receive(direction, bytes_max);
        });
      });
}

void RelayStream::receive(Direction& direction, std::size_t bytes_max) {
  const std::size_t room = std::min(bytes_max, direction.bytes.size());
  asio::error_code error;
  const std::size_t bytes = direction.from.read_some(asio::buffer(direction.bytes.data(), room), error);
  if (error == asio::error::would_block) return pass(direction);
  if (error || !mediator_.count(*this, bytes)) return close();
  send(direction, bytes);
}

void RelayStream::send(Direction& direction, std::size_t bytes) {
  asio::async_write(direction.to, asio::buffer(direction.bytes.data(), bytes),
                    [self = shared_from_this(), &direction](const asio::error_code& error, std::size_t /*bytes*/) {
                      if (!self->open_) return;
                      if (error) return self->close();
                      self->pass(direction);
                    });
}

}  // namespace starling::reach
