// The place where everything meets on the net thread: links, averagings, transfers and the line. The hub decides which
// of them a frame is for, whose turn it is to send, and when to look again.
#pragma once

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "client/transport/averagings.h"
#include "client/transport/calls.h"
#include "client/transport/line_traffic.h"
#include "client/transport/peer_network.h"
#include "client/transport/relay_desk.h"
#include "client/transport/switchboard.h"
#include "client/transport/transfers.h"
#include "shared/base/limited_log.h"

namespace starling::transport {

class Hub final : public Link::Mediator {
 public:
  Hub(asio::io_context& io, const PeerNetworkOptions& options, const crypto::TlsContext& tls, const Clock& clock,
      StateSource source);

  // See PeerNetwork for these.
  Status average(AverageRequest request);
  void abandon();
  Status mix(std::size_t bucket, AverageRequest request);
  void end_gossip(std::size_t bucket);
  Result<FetchNumber> fetch_state(StateFetch fetch);
  void cancel_fetch(FetchNumber number);
  void name_newcomers(const std::optional<std::vector<PeerId>>& newcomers, std::function<void()> unnamed_asks);
  void deny(std::span<const PeerId> revoked);
  [[nodiscard]] NetworkStats stats() const;
  void limit(double upload_bytes_per_s, double download_bytes_per_s);
  Calls& calls() { return calls_; }
  void link_with_holders(const std::vector<wire::Endpoint>& holders, const wire::Endpoint& self);

  void take_call(asio::ip::tcp::socket socket) { relays_.take_call(std::move(socket)); }
  void renew(const crypto::TlsContext& tls);
  RelayDesk& relays() { return relays_; }

  void link_up(Link& link) override;
  Result<bool> wants_frame(Link& link, const wire::FrameHeader& header) override;
  Status frame_received(Link& link, const wire::FrameHeader& header, std::span<const std::uint8_t> payload) override;
  void input_paused(Link& link) override;
  bool next_frame(Link& link, FrameToSend& frame) override;
  // Holds back the rest of a state's chunk. A member of an averaging is not held back: the frames that it needs for
  // that come behind the chunk.
  bool holds_back(Link& link) override { return !averagings_.is_member(link) && transfers_.waits(clock_.now(), link); }
  bool add_stream(Link& link) override { return switchboard_.add_stream(link); }
  Link* link_to_join(const PeerId& peer, const wire::LinkToken& token) override {
    return switchboard_.link_to_join(peer, token);
  }
  void link_closed(Link& link, const Error& why) override;

 private:
  void stream_closed(Link& link, const Error& why);
  Status handle_liveness(Link& link, const wire::FrameHeader& header);
  // Lets time pass, sends frames that have become ready, reports averagings that have settled, sets the timer. Call
  // after every event.
  void service();
  // Calls service() soon, from the event loop: for needs that come up while a link is being filled.
  void post_service();
  // Reports averagings that have settled: the round, or gossip.
  void report(TimePoint now, bool gossip);
  void on_round_settled();
  // The members of this plan may have states from here.
  void name_members(const wire::GroupInfo& group);
  // Checks the request, and lets this member sign there.
  Status prepare(AverageRequest& request) const;
  // Keeps links with the partners of gossip under way.
  void want_partners();
  // Ends the averagings of a bucket, or the round's; false when there are none.
  bool end(Averagings::Bucket bucket);
  void measure(TimePoint now);
  [[nodiscard]] TimePoint next_deadline() const;
  void set_timer(TimePoint now);
  void log_refusal(TimePoint now, const Error& why);

  asio::io_context& io_;
  const Clock& clock_;
  net::Line own_line_;                                // used when the options name no line
  std::shared_ptr<const crypto::PeerSigner> signer_;  // signs this member's words in averagings
  LinkContext links_;
  Switchboard switchboard_;
  RelayDesk relays_;
  Averagings averagings_;
  Calls calls_;
  Transfers transfers_;
  LineTraffic line_;
  std::size_t links_refused_ = 0;
  LimitedLog refusals_logged_{std::chrono::minutes(1)};
  bool service_posted_ = false;
  asio::steady_timer timer_;
  TimePoint timer_set_for_ = kNever;
};

}  // namespace starling::transport
