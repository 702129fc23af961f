#include "client/transport/congestion_control.h"

#include <doctest/doctest.h>

#include <asio/io_context.hpp>
#include <asio/ip/address_v4.hpp>
#include <asio/ip/tcp.hpp>

using namespace starling::transport;
using asio::ip::tcp;

namespace {

const tcp::endpoint kAnyPort(asio::ip::address_v4::loopback(), 0);

}  // namespace

TEST_CASE("what a listener accepts begins as the listener does") {
  asio::io_context io;
  tcp::acceptor listener(io, kAnyPort);
  begin_congestion_control(listener.native_handle(), "bbr");
  tcp::socket dialled(io, tcp::v4());
  begin_congestion_control(dialled.native_handle(), "bbr");
  dialled.connect(listener.local_endpoint());
  tcp::socket accepted = listener.accept();
  for (tcp::socket* each : {&dialled, &accepted}) {
    CHECK(congestion_control_of(each->native_handle()) == kPlainCongestionControl);
    CHECK(is_loss_based(each->native_handle()));
  }
}

TEST_CASE("without a wish the system's choice stays, and so it does where there is no such thing") {
  asio::io_context io;
  tcp::acceptor listener(io, kAnyPort);
  const std::string before = congestion_control_of(listener.native_handle());
  CHECK_FALSE(before.empty());
  begin_congestion_control(listener.native_handle(), "");
  CHECK(congestion_control_of(listener.native_handle()) == before);
  set_congestion_control(listener.native_handle(), "no such thing");
  CHECK(congestion_control_of(listener.native_handle()) == before);
  set_congestion_control(listener.native_handle(), kPlainCongestionControl);
  CHECK(congestion_control_of(listener.native_handle()) == kPlainCongestionControl);
}

TEST_CASE("what is no TCP socket has no congestion control") {
  CHECK(congestion_control_of(-1).empty());
  CHECK_FALSE(is_loss_based(-1));
}
