// The place where everything meets on the net thread: links, the round, gossip, the download and the donations. The hub
// decides which of them a frame is for, whose turn it is to send, and when to look again.
#pragma once

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "client/averaging/ended_rounds.h"
#include "client/transport/fetch_driver.h"
#include "client/transport/line_pace.h"
#include "client/transport/peer_network.h"
#include "client/transport/rate_meter.h"
#include "client/transport/relay_desk.h"
#include "client/transport/round_driver.h"
#include "client/transport/state_donor.h"
#include "client/transport/switchboard.h"
#include "client/transport/upload_probe.h"
#include "shared/base/log_limit.h"

namespace starling::transport {

class Hub final : public Link::Mediator {
 public:
  Hub(asio::io_context& io, const PeerNetworkOptions& options, const crypto::TlsContext& tls, const Clock& clock,
      StateSource source);

  // See PeerNetwork for these.
  Status average(AverageRequest request);
  void abandon();
  Status mix(std::size_t bucket, AverageRequest request);
  void end_mixing(std::size_t bucket);
  Status fetch_state(StateFetch fetch);
  void cancel_fetch();
  [[nodiscard]] NetworkStats stats() const;
  void limit(double upload_bytes_per_s, double download_bytes_per_s);

  void take_call(asio::ip::tcp::socket socket) { relays_.take_call(std::move(socket)); }
  void renew(const crypto::TlsContext& tls);
  RelayDesk& relays() { return relays_; }

  void link_up(Link& link) override;
  Result<bool> wants_frame(Link& link, const wire::FrameHeader& header) override;
  Status frame_received(Link& link, const wire::FrameHeader& header, std::span<const std::uint8_t> payload) override;
  void input_paused(Link& link) override;
  bool next_frame(Link& link, FrameToSend& frame) override;
  bool holds_back(Link& link) override;
  bool add_stream(Link& link) override { return switchboard_.add_stream(link); }
  Link* link_to_join(const PeerId& peer, const wire::LinkToken& token) override {
    return switchboard_.link_to_join(peer, token);
  }
  void link_closed(Link& link, const Error& why) override;

 private:
  void stream_closed(Link& link, const Error& why);
  // Visits the averagings that are under way, and those that are over here but maybe not for slower members, in the
  // order in which they may send.
  template <typename Visit>
  void each_driver(const Visit& visit) const;
  // The averaging that frames of this group belong to; null when it is none of ours.
  [[nodiscard]] RoundDriver* driver_of(const GroupId& group) const;
  Status answer_request(Link& link, std::span<const std::uint8_t> payload);
  Status handle_liveness(Link& link, const wire::FrameHeader& header);
  void pump_donations();
  // Lets time pass, sends frames that have become ready, reports averagings that have settled, sets the timer. Call
  // after every event.
  void service();
  // Calls service() soon, from the event loop: for needs that come up while a link is being filled.
  void post_service();
  // Call it before an averaging is dropped or replaced, so that nobody waits for this member in it.
  static void end(const RoundDriver* round, averaging::EndedRounds& ended);
  void report_round();
  void report_mixings();
  // Keeps links with the partners of gossip under way.
  void want_partners();
  void report_fetch(TimePoint now);
  // Notes the bytes that TCP has moved since the last call, for the speeds in stats().
  void measure(TimePoint now);
  void probe_upload(TimePoint now);
  void tend_donations(TimePoint now);
  // Measured speeds, under the volunteer's limit.
  [[nodiscard]] double upload_speed() const { return links_.upload.limited(upload_.bytes_per_s()); }
  [[nodiscard]] double download_speed() const { return links_.download.limited(download_.bytes_per_s()); }
  // Keeps the round's links at the pace that the line is known to allow.
  void pace_round(TimePoint now);
  // Links of a round that takes a while move their data in pacing ticks, all of them at once.
  void expect_beats(bool beats);
  void beat(TimePoint now);
  // Subtracts bytes relayed since the last call from those that links may pass.
  void count_on_wire();
  void count_relayed(TimePoint now);
  [[nodiscard]] TimePoint next_deadline() const;
  void set_timer(TimePoint now);
  void log_refusal(TimePoint now, const Error& why);

  asio::io_context& io_;
  const Clock& clock_;
  net::Line own_line_;  // used when the options name no line
  LinkContext links_;
  Switchboard switchboard_;
  RelayDesk relays_;
  StateDonor donor_;
  bool donations_posted_ = false;
  bool service_posted_ = false;
  EarlyBegins early_begins_;
  averaging::EndedRounds ended_;
  // Separate, because a round has many gossip averagings.
  averaging::EndedRounds ended_mixings_{averaging::EndedRounds::kKept * wire::kBucketsMost};

  std::unique_ptr<RoundDriver> round_;
  std::unique_ptr<RoundDriver> before_;  // predecessor of `round_`; over here, but maybe not for slower members
  bool round_reported_ = false;
  std::uint64_t round_number_ = 0;  // number of the last average() or abandon(), by which late callbacks are known

  struct MixingUnderWay {
    std::size_t bucket = 0;
    std::unique_ptr<RoundDriver> driver;
    bool reported = false;
  };
  std::map<std::uint64_t, MixingUnderWay> mixings_;  // by the number of their mix(); at most one for each bucket
  std::uint64_t mixing_number_ = 0;                  // number of the last mix()
  std::vector<PeerId> partners_;                     // peers that links are wanted with for gossip

  std::unique_ptr<FetchDriver> fetch_;
  std::uint64_t fetch_number_ = 0;
  TimePoint progress_told_{};

  LinePace pace_;
  std::uint64_t paced_round_ = 0;  // the latest round that has begun
  TimePoint next_beat_ = kNever;
  TimePoint last_beat_{};
  bool beating_ = false;
  RateMeter upload_;
  RateMeter download_;
  UploadProbe probe_;
  TimePoint measured_at_{};
  TcpCounters moved_before_;         // counters at that time
  net::WireBytes on_wire_before_;    // also at that time
  std::int64_t relayed_before_ = 0;  // also at that time
  NetworkStats totals_;
  LogLimit refusals_logged_;
  asio::steady_timer timer_;
  TimePoint timer_set_for_ = kNever;
};

}  // namespace starling::transport
