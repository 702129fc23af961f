#include "client/transport/line_traffic.h"

#include <algorithm>

#include "shared/net/line.h"

namespace starling::transport {

void LineTraffic::count(TimePoint now) {
  // A queue at this house's line shows on every way, so the least wait counts; some ways also have a queue at the other
  // end's line.
  queue_.reset();
  for (const auto& [key, link] : switchboard_.links()) {
    const std::optional<Duration> waits = link->count_traffic();
    if (waits) queue_ = std::min(queue_.value_or(*waits), *waits);
  }
  upload_.note(now, context_.moved.bytes_delivered - moved_before_.bytes_delivered,
               context_.moved.bytes_sent - moved_before_.bytes_sent);
  download_.note_in_order(now, context_.moved.bytes_received - moved_before_.bytes_received,
                          context_.moved.packets_behind_gap - moved_before_.packets_behind_gap);
  moved_before_ = context_.moved;
}

void LineTraffic::settle(TimePoint now, const Passed& passed) {
  context_.upload.settle(context_.on_wire.sent - on_wire_before_.sent);
  context_.download.settle(context_.on_wire.received - on_wire_before_.received);
  count_on_wire(passed.state_bytes);
  count_relayed(now, passed.relayed_bytes);
  measured_at_ = now;
  // The slower direction, as the plan takes it: all members then need about equally long for the round.
  pace_.note(now, std::min(upload_speed(), download_speed()), queue_.value_or(Duration::zero()));
}

// Bytes on the line for states follow from the bytes of states; the rest went for rounds.
void LineTraffic::count_on_wire(std::int64_t state_bytes) {
  const std::int64_t grown =
      context_.on_wire.sent - on_wire_before_.sent + context_.on_wire.received - on_wire_before_.received;
  on_wire_before_ = context_.on_wire;
  const auto for_states =
      static_cast<std::int64_t>(net::kOnTheLine * static_cast<double>(state_bytes)) - wire_totals_.states;
  wire_totals_.states += std::clamp<std::int64_t>(for_states, 0, grown);
  wire_totals_.rounds += grown - std::clamp<std::int64_t>(for_states, 0, grown);
}

// Relaying has a limit of its own, which is not above these limits: links get the remainder.
void LineTraffic::count_relayed(TimePoint now, std::int64_t relayed) {
  const auto since = static_cast<std::size_t>(relayed - relayed_before_);
  relayed_before_ = relayed;
  if (since == 0 || now - measured_at_ > RateMeter::kSlotMax) return;  // no link was held up by the relayed bytes
  context_.upload.others_passed(since);
  context_.download.others_passed(since);
}

void LineTraffic::pace(TimePoint now, RoundDriver& round, std::uint64_t number) {
  if (paced_round_ != number) {
    paced_round_ = number;
    pace_.begin(now, round.bytes_planned(), std::min(upload_speed(), download_speed()));
    expect_ticks(pace_.ticks() ? &round : nullptr);
  } else if (pace_.bytes_per_s() > 0 && (round.is_thinned() || round.outcome() != nullptr)) {
    pace_.lift();
    next_tick_ = now;  // data that the pace had kept back goes out now
  } else if (measured_at_ != now) {
    return;
  }
  round.set_pace(pace_);
}

void LineTraffic::rest() {
  upload_.rest();
  download_.rest();
}

void LineTraffic::expect_ticks(const RoundDriver* round) {
  last_tick_ = context_.clock.now();
  next_tick_ = round != nullptr ? last_tick_ : kNever;
  for (const auto& [key, link] : switchboard_.links()) {
    link->expect_ticks(round != nullptr && round->is_member(*link));
  }
}

void LineTraffic::tick(TimePoint now, const RoundDriver& round) {
  const Duration since_last = now - last_tick_;
  last_tick_ = now;
  std::vector<std::shared_ptr<Link>> links;  // a copy: the input of one link may open or close others
  std::size_t streams = 0;
  for (const auto& [key, link] : switchboard_.links()) {
    if (!round.is_member(*link)) continue;
    links.push_back(link);
    streams += link->streams();
  }
  next_tick_ = now + pace_.next_tick(streams, round.have_begun(), round.bytes_left());
  ticking_ = true;
  for (const auto& link : links) {
    link->expect_ticks(pace_.ticks());  // the link may be new
    link->tick(since_last);
  }
  ticking_ = false;
  for (const auto& link : links) link->pump();
}

}  // namespace starling::transport
