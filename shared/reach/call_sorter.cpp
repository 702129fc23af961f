#include "shared/reach/call_sorter.h"

#include <sys/socket.h>

#include <asio/steady_timer.hpp>
#include <cerrno>

#include "shared/reach/relay_protocol.h"

namespace starling::reach {

struct CallSorter::Caller {
  Caller(asio::io_context& io, asio::ip::tcp::socket call) : socket(std::move(call)), deadline(io) {}

  void hang_up() {
    asio::error_code ignored;
    socket.close(ignored);
    deadline.cancel();
  }

  asio::ip::tcp::socket socket;
  asio::steady_timer deadline;
};

void CallSorter::take(asio::ip::tcp::socket socket) {
  if (unsorted_.size() >= kUnsortedMax) {
    unsorted_.front()->hang_up();
    unsorted_.pop_front();
  }
  const auto caller = std::make_shared<Caller>(io_, std::move(socket));
  unsorted_.push_back(caller);
  caller->deadline.expires_after(patience_);
  caller->deadline.async_wait([caller](const asio::error_code& stopped) {
    if (!stopped) caller->hang_up();
  });
  caller->socket.async_wait(asio::ip::tcp::socket::wait_read, [this, caller](const asio::error_code& error) {
    unsorted_.remove(caller);
    caller->deadline.cancel();
    if (!error && caller->socket.is_open()) sort(caller);
  });
}

void CallSorter::sort(const std::shared_ptr<Caller>& caller) {
  char first = 0;
  const ssize_t got = ::recv(caller->socket.native_handle(), &first, 1, MSG_PEEK | MSG_DONTWAIT);
  if (got != 1) return;
  (first == kRelayGreeting.front() ? relay_ : link_)(std::move(caller->socket));
}

}  // namespace starling::reach
