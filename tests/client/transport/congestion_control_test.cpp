#include "client/transport/congestion_control.h"

#include <doctest/doctest.h>

#include <asio/io_context.hpp>
#include <asio/ip/address_v4.hpp>
#include <asio/ip/tcp.hpp>

using namespace starling;
using namespace starling::transport;
using namespace std::chrono_literals;
using asio::ip::tcp;

namespace {

constexpr TimePoint kBegin{1h};
const tcp::endpoint kAnyPort(asio::ip::address_v4::loopback(), 0);

// 100 packets in 40 ms: 3.6 MB/s.
TcpCounters at_pace(double bytes_per_s) {
  TcpCounters counters;
  counters.window_packets = 100;
  counters.round_trip = 40ms;
  counters.pace_bytes_per_s = bytes_per_s;
  return counters;
}

constexpr double kBeginsAt = 10.4e6;  // 2.9 times 3.6 MB/s

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

TEST_CASE("a paced stream begins anew at once, and again every few seconds") {
  WhilePaced paced;
  CHECK(paced.renews(kBegin, at_pace(kBeginsAt)));
  CHECK_FALSE(paced.renews(kBegin + 50ms, at_pace(kBeginsAt)));
  CHECK_FALSE(paced.renews(kBegin + 4900ms, at_pace(2 * kBeginsAt)));
  CHECK(paced.renews(kBegin + 5s, at_pace(2 * kBeginsAt)));
  CHECK_FALSE(paced.renews(kBegin + 9900ms, at_pace(2 * kBeginsAt)));
  CHECK(paced.renews(kBegin + 10s, at_pace(2 * kBeginsAt)));
}

TEST_CASE("a paced stream begins anew where that makes its pace higher by a fifth") {
  WhilePaced paced;
  CHECK(paced.renews(kBegin, at_pace(kBeginsAt)));
  CHECK_FALSE(paced.renews(kBegin + 50ms, at_pace(kBeginsAt / 1.15)));
  CHECK(paced.renews(kBegin + 100ms, at_pace(kBeginsAt / 1.25)));
  CHECK_FALSE(paced.renews(kBegin + 150ms, at_pace(kBeginsAt)));
}

TEST_CASE("a stream whose window is closed but for a few packets does not begin anew with those") {
  WhilePaced paced;
  TcpCounters narrow = at_pace(kBeginsAt);
  narrow.window_packets = 4;
  CHECK_FALSE(paced.renews(kBegin, narrow));
  narrow.window_packets = 5;
  CHECK(paced.renews(kBegin + 50ms, narrow));
  CHECK_FALSE(paced.renews(kBegin + 100ms, narrow));
}

TEST_CASE("what begins anew keeps its name") {
  asio::io_context io;
  tcp::socket socket(io, tcp::v4());
  begin_anew(socket.native_handle(), kPlainCongestionControl);
  CHECK(congestion_control_of(socket.native_handle()) == kPlainCongestionControl);
}
