#include "shared/reach/call_sorter.h"

#include <sys/socket.h>

#include <asio/steady_timer.hpp>
#include <cerrno>
#include <iterator>
#include <vector>

#include "shared/reach/relay_protocol.h"

namespace starling::reach {

struct CallSorter::Caller {
  Caller(asio::io_context& io, asio::ip::tcp::socket call, const AddressPrefix& network)
      : socket(std::move(call)), deadline(io), from(network) {}

  void hang_up() {
    asio::error_code ignored;
    socket.close(ignored);
    deadline.cancel();
  }

  asio::ip::tcp::socket socket;
  asio::steady_timer deadline;
  AddressPrefix from;
};

void CallSorter::take(asio::ip::tcp::socket socket) {
  asio::error_code gone;
  const AddressPrefix from = prefix_of(socket.remote_endpoint(gone).address());
  if (gone) return;  // the socket closes here
  make_place(from);
  const auto caller = std::make_shared<Caller>(io_, std::move(socket), from);
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

void CallSorter::make_place(const AddressPrefix& from) {
  std::vector<AddressPrefix> networks;
  for (const auto& caller : unsorted_) networks.push_back(caller->from);
  const auto index = gives_way_to(from, networks, kUnsortedMax);
  if (!index) return;
  const auto dropped = std::next(unsorted_.begin(), static_cast<std::ptrdiff_t>(*index));
  (*dropped)->hang_up();
  unsorted_.erase(dropped);
}

void CallSorter::sort(const std::shared_ptr<Caller>& caller) {
  char first = 0;
  const ssize_t got = ::recv(caller->socket.native_handle(), &first, 1, MSG_PEEK | MSG_DONTWAIT);
  if (got != 1) return;
  (first == kRelayGreeting.front() ? relay_ : link_)(std::move(caller->socket));
}

}  // namespace starling::reach
