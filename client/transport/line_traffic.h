// The volunteer's line as all links use it together: its measured speeds, the volunteer's limits, what went over it,
// and the pace and the ticks of a long round. Net thread only.
#pragma once

#include <cstdint>
#include <optional>

#include "client/transport/line_pace.h"
#include "client/transport/rate_meter.h"
#include "client/transport/round_driver.h"
#include "client/transport/switchboard.h"

namespace starling::transport {

class LineTraffic {
 public:
  // Totals of payload and headers, by which settle() divides the bytes on the line.
  struct Passed {
    std::int64_t state_bytes = 0;    // states, both ways
    std::int64_t relayed_bytes = 0;  // for others
  };
  // Bytes on the line, both ways together; see NetworkStats.
  struct WireTotals {
    std::int64_t rounds = 0;
    std::int64_t states = 0;
  };

  // Both outlive this object.
  LineTraffic(LinkContext& context, const Switchboard& switchboard) : context_(context), switchboard_(switchboard) {}

  // A measurement: first count(), then perhaps expect(), then settle(). count() notes the bytes that TCP has moved
  // since the last time, for the speeds.
  [[nodiscard]] TimePoint next_measurement() const { return measured_at_ + RateMeter::kSlot; }
  void count(TimePoint now);
  // A short trial has shown this upload; it counts until traffic shows something.
  void expect(double upload_bytes_per_s) { upload_.expect(upload_bytes_per_s); }
  void settle(TimePoint now, const Passed& passed);

  // Measured speeds, under the volunteer's limit; 0: nothing measured yet.
  [[nodiscard]] double upload_speed() const { return context_.upload.limited(upload_.bytes_per_s()); }
  [[nodiscard]] double download_speed() const { return context_.download.limited(download_.bytes_per_s()); }
  // Traffic, or a trial, has shown the upload's own speed.
  [[nodiscard]] bool upload_known() const { return upload_.bytes_per_s() > 0; }
  [[nodiscard]] const WireTotals& on_wire() const { return wire_totals_; }

  // Keeps the links of a running, unsettled round at the pace that the line is known to allow. `number` tells rounds
  // apart.
  void pace(TimePoint now, RoundDriver& round, std::uint64_t number);
  // A transfer is over: its last speeds count.
  void rest();
  // The round is over: its links may send as fast as they can, or, at least, have no ticks any more.
  void lift_pace() { pace_.lift(); }
  void end_ticks() { expect_ticks(nullptr); }

  // Links of a round that takes a while move their data in pacing ticks, all of them at once. kNever: no ticks.
  [[nodiscard]] TimePoint next_tick() const { return next_tick_; }
  void tick(TimePoint now, const RoundDriver& round);
  // Links are taking in their data of a tick.
  [[nodiscard]] bool beating() const { return ticking_; }

 private:
  // The round whose links have ticks from now on; null: none.
  void expect_ticks(const RoundDriver* round);
  // Subtracts bytes relayed since the last call from those that links may pass.
  void count_relayed(TimePoint now, std::int64_t relayed);
  void count_on_wire(std::int64_t state_bytes);

  LinkContext& context_;
  const Switchboard& switchboard_;
  RateMeter upload_;
  RateMeter download_;
  std::optional<Duration> queue_;  // how long packets waited on the least busy way, when last counted
  TimePoint measured_at_{};
  TcpCounters moved_before_;         // counters at that time
  net::WireBytes on_wire_before_;    // also at that time
  std::int64_t relayed_before_ = 0;  // also at that time
  WireTotals wire_totals_;

  LinePace pace_;
  std::uint64_t paced_round_ = 0;  // the latest round that has begun
  TimePoint next_tick_ = kNever;
  TimePoint last_tick_{};
  bool ticking_ = false;
};

}  // namespace starling::transport
