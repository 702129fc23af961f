#include "client/transport/stream_meter.h"

#include "client/transport/congestion_control.h"

namespace starling::transport {
namespace {

// Counters no older than this need not be read again.
constexpr Duration kCountsHold = std::chrono::milliseconds(10);

}  // namespace

void StreamMeter::begin(int fd) {
  header_bytes_ = net::header_bytes(fd);
  loss_based_ = is_loss_based(fd);
}

StreamMeter::Reading StreamMeter::read(TimePoint now, int fd, bool backlogged, Duration tick) {
  const TcpCounters counters = tcp_counters(fd);
  const net::WireBytes on_wire{counters.bytes_sent + header_bytes_ * counters.packets_sent,
                               counters.bytes_received + header_bytes_ * counters.packets_received};
  Reading reading;
  reading.moved.bytes_acknowledged = counters.bytes_acknowledged - counted_.bytes_acknowledged;
  reading.moved.bytes_delivered = counters.bytes_delivered - counted_.bytes_delivered;
  reading.moved.bytes_sent = counters.bytes_sent - counted_.bytes_sent;
  reading.moved.bytes_received = counters.bytes_received - counted_.bytes_received;
  reading.moved.packets_behind_gap = counters.packets_behind_gap - counted_.packets_behind_gap;
  reading.on_wire.sent = on_wire.sent - counted_on_wire_.sent;
  reading.on_wire.received = on_wire.received - counted_on_wire_.received;
  reading.time = now - counted_at_;
  if (loss_based_) reading.finding = losses_.note(counters, backlogged, tick);
  counted_ = counters;
  counted_on_wire_ = on_wire;
  counted_at_ = now;
  return reading;
}

TcpCounters StreamMeter::recent(TimePoint now, int fd) const {
  return now - counted_at_ < kCountsHold ? counted_ : tcp_counters(fd);
}

}  // namespace starling::transport
