#include "client/transport/tcp_counters.h"

#include <doctest/doctest.h>

#include <asio/connect.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>

using namespace starling::transport;
using asio::ip::tcp;

// Packets on the loopback may be as long as 64 KiB; delivered data is counted by its real size.
TEST_CASE("small packets count as what they carry") {
  asio::io_context io;
  tcp::acceptor acceptor(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  tcp::socket near(io);
  near.connect(acceptor.local_endpoint());
  tcp::socket far = acceptor.accept();
  near.set_option(tcp::no_delay(true));
  char byte = 0;
  const auto echo = asio::buffer(&byte, 1);
  for (int i = 0; i < 100; ++i) {
    asio::write(near, echo);
    asio::read(far, echo);
    asio::write(far, echo);  // it acknowledges, too
    asio::read(near, echo);
  }
  const TcpCounters counters = tcp_counters(near.native_handle());
  CHECK(counters.bytes_sent == 100);
  CHECK(counters.bytes_acknowledged == 101);  // TCP counts the first packet, SYN, as a byte
  CHECK(counters.bytes_delivered == counters.bytes_acknowledged);
}

TEST_CASE("what is no connection has counted nothing") { CHECK(tcp_counters(-1).bytes_delivered == 0); }
