#include "shared/reach/listener.h"

#include <fcntl.h>
#include <fmt/core.h>

#include <asio/ip/address.hpp>
#include <asio/ip/v6_only.hpp>

namespace starling::reach {
namespace {

constexpr auto kRetryAfter = std::chrono::milliseconds(100);

}  // namespace

Status Listener::listen(const std::string& host, int port) {
  asio::error_code error;
  const asio::ip::address address = asio::ip::make_address(host, error);
  if (error || port < 0 || port > 65535) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("listen for peers on '{}' port {}: not an IP address and port", host, port)};
  }
  const auto number = static_cast<std::uint16_t>(port);
  Status status = open({address, number});
  if (!status.ok() && status.error().code == ErrorCode::unsupported && address.is_v6() && address.is_unspecified()) {
    status = open({asio::ip::address_v4::any(), number});
  }
  if (!status.ok()) return status;
  port_ = acceptor_.local_endpoint(error).port();
  accept_next();
  return {};
}

Status Listener::open(const asio::ip::tcp::endpoint& endpoint) {
  asio::error_code error;
  const auto fail = [&](ErrorCode code, std::string_view hint) -> Status {
    asio::error_code ignored;
    acceptor_.close(ignored);
    return Error{code, fmt::format("listen for peers on {} port {}: {}{}", endpoint.address().to_string(),
                                   endpoint.port(), error.message(), hint)};
  };
  acceptor_.open(endpoint.protocol(), error);
  if (error) return fail(ErrorCode::unsupported, "");
  ::fcntl(acceptor_.native_handle(), F_SETFD, FD_CLOEXEC);  // a child that inherited it would keep the port
  acceptor_.set_option(asio::ip::tcp::acceptor::reuse_address(true), error);
  if (endpoint.address().is_v6()) acceptor_.set_option(asio::ip::v6_only(!endpoint.address().is_unspecified()), error);
  acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (!error) return {};
  if (error == asio::error::address_in_use) {
    return fail(ErrorCode::already_exists, "; choose another port, or 0 for any free one");
  }
  const bool no_ipv6 = error == asio::error::address_family_not_supported ||
                       error == asio::error_code(EADDRNOTAVAIL, asio::error::get_system_category());
  return fail(no_ipv6 ? ErrorCode::unsupported : ErrorCode::io, "");
}

void Listener::accept_next() {
  acceptor_.async_accept([this](const asio::error_code& error, asio::ip::tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    if (!error) {
      take_call_(std::move(socket));
      return accept_next();
    }
    retry_.expires_after(kRetryAfter);
    retry_.async_wait([this](const asio::error_code& stopped) {
      if (!stopped) accept_next();
    });
  });
}

}  // namespace starling::reach
