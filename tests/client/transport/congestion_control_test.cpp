#include "client/transport/congestion_control.h"

#include <doctest/doctest.h>

#include <asio/io_context.hpp>
#include <asio/ip/address_v4.hpp>
#include <asio/ip/tcp.hpp>

using namespace starling::transport;
using asio::ip::tcp;

namespace {

const tcp::endpoint kAnyPort(asio::ip::address_v4::loopback(), 0);

TcpCounters after(std::int64_t megabytes_sent, std::int64_t packets_lost) {
  TcpCounters counters;
  counters.bytes_sent = megabytes_sent * 1'000'000;
  counters.packets_sent_again = packets_lost;
  return counters;
}

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

TEST_CASE("a stream that loses nothing goes without bbr for as long as it is paced") {
  WhilePaced paced;
  CHECK_FALSE(paced.end());
  CHECK(paced.begin(after(0, 0)));
  CHECK_FALSE(paced.note(after(100, 0)));
  CHECK(paced.end());
  CHECK_FALSE(paced.end());
  CHECK_FALSE(paced.note(after(101, 1)));
}

TEST_CASE("a stream has bbr back at its first loss, once, and goes without again if there were no more") {
  WhilePaced paced;
  CHECK(paced.begin(after(0, 0)));
  CHECK(paced.note(after(10, 1)));
  CHECK_FALSE(paced.note(after(11, 2)));
  CHECK_FALSE(paced.end());
  CHECK(paced.begin(after(20, 2)));  // of 13 800 packets
  CHECK_FALSE(paced.note(after(20, 2)));
}

TEST_CASE("a stream that has lost more than three of 10 000 packets keeps bbr") {
  WhilePaced paced;
  CHECK_FALSE(paced.begin(after(10, 3)));  // of 6 900 packets
  CHECK_FALSE(paced.note(after(20, 4)));
  CHECK_FALSE(paced.end());
  CHECK(paced.begin(after(20, 5)));  // of 6 900 since then
}
